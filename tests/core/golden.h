// Expected texts that are too long to write in a test. They lie in tests/core/golden/ and are compiled in, so
// that the wasm build of the tests reads them as well:
//
//     EXPECT_EQ(report_text(request, catalog), golden_file("case-d-after.json"));
#pragma once

#include <string_view>

/// The text of tests/core/golden/<name>, byte for byte. A name that does not exist fails the test that asks
/// for it.
std::string_view golden_file(std::string_view name);
