// Names for Emscripten's linker what module.js.in gives to a module.
mergeInto(LibraryManager.library, { number_in: function () {} });
