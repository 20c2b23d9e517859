# What every object of the wasm build is compiled with, module and tests alike. Nothing in the core throws or asks for a
# type at run time; Emscripten's exceptions and type names would cost a tenth of the module, and optimising across files
# saves another tenth.
add_compile_options(-fno-exceptions -fno-rtti -flto)
add_link_options(-fno-rtti -flto)
