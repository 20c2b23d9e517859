# What every object of the wasm build is compiled with, module and tests alike.
#
# Nothing in the core throws, and Emscripten's exceptions would cost a tenth of the module.
add_compile_options(-fno-exceptions)
