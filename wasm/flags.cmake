# What every object of the wasm build is compiled with, module and tests alike. Nothing in the core throws or asks for a
# type at run time; Emscripten's exceptions and type names would cost a tenth of the module, and optimising across files
# saves another tenth.
add_compile_options(-fno-exceptions -fno-rtti -flto)
# One thread, and nothing is ever taken down: no guards and no destructors for statics. Conversions and sign extensions as
# single instructions, which every browser that the page is built for has.
add_compile_options(-fno-threadsafe-statics -fno-c++-static-destructors -mnontrapping-fptoint -msign-ext)
add_link_options(-fno-rtti -flto)
