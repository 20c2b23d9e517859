# GoogleTest, for the tests of the core: gtest_library is what they link.
if(EMSCRIPTEN)
  # Debian's libgtest-dev brings the sources as well as a native library.
  set(gtest_sources /usr/src/googletest CACHE PATH "Sources of GoogleTest and GoogleMock")
  add_library(gmock_main STATIC ${gtest_sources}/googletest/src/gtest-all.cc
                                ${gtest_sources}/googlemock/src/gmock-all.cc
                                ${gtest_sources}/googlemock/src/gmock_main.cc)
  target_include_directories(gmock_main SYSTEM PUBLIC ${gtest_sources}/googletest/include
                                                      ${gtest_sources}/googlemock/include)
  target_include_directories(gmock_main PRIVATE ${gtest_sources}/googletest ${gtest_sources}/googlemock)
  target_compile_options(gmock_main PRIVATE -w)
  set(gtest_library gmock_main)
else()
  find_package(GTest REQUIRED)
  set(gtest_library GTest::gmock GTest::gmock_main)
endif()
