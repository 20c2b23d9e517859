# Emscripten's own toolchain file, wherever the emcc on PATH has it: Debian's package or a newer emsdk.
execute_process(COMMAND em-config EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten_root
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)

# Debian's emcc optimises its JavaScript with the acorn of Debian's node-acorn, which node finds only when told where.
if(NOT DEFINED ENV{NODE_PATH} AND IS_DIRECTORY /usr/share/nodejs/acorn)
  set(CMAKE_CXX_LINKER_LAUNCHER ${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs)
endif()
