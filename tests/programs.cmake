# Test programs, over a core that is as fast as it is shipped. They themselves need no speed: unoptimised they compile in
# two thirds of the time.
include(tests/gtest.cmake)

if(EMSCRIPTEN)
  set(test_options -O1)
elseif(NOT PLIMSOLL_FUZZ)
  set(test_options -O0)
endif()

if(PLIMSOLL_PCH AND NOT EMSCRIPTEN)
  # What most of them read, compiled once.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
  add_library(plimsoll_test_headers STATIC ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(plimsoll_test_headers PRIVATE ${gtest_library})
  target_compile_options(plimsoll_test_headers PRIVATE ${test_options})
  target_precompile_headers(plimsoll_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <string>
                            <vector>)
endif()

# tests_the_core(TARGET): a library or program that asks the core.
function(tests_the_core target)
  target_link_libraries(${target} PUBLIC plimsoll_core)
  target_compile_options(${target} PRIVATE ${test_options})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(EMSCRIPTEN)
    return()
  endif()
  # Of an inline function that both have, the linker keeps the copy it meets first: objects of other targets stand
  # before a target's own, so that the core calls no unoptimised one.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:plimsoll_json> $<TARGET_OBJECTS:plimsoll_hot> $<TARGET_OBJECTS:plimsoll_core>)
  endif()
  if(PLIMSOLL_PCH)
    target_precompile_headers(${target} REUSE_FROM plimsoll_test_headers)
    target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  endif()
endfunction()
