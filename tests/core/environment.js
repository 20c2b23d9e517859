// What GoogleTest reads from the environment, which Emscripten's programs do not see by themselves: ./dev test runs the tests in
// two halves.
Module["preRun"] = () => {
  for (const name of ["GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "DRAWS", "SEED", "DIGESTS"]) {
    if (process.env[name]) ENV[name] = process.env[name];
  }
};
