# Turns a list of text files into a C++ file that holds them, so that the core reads presets without a file system:
#
#   cmake -D LIST=presets.list -D ROOT=/…/presets -D FUNCTION=preset_files -D COMPACT=ON -D OUTPUT=presets.cpp -P embed.cmake
#
# LIST names one file a line. COMPACT drops line breaks and indentation, which mean nothing in JSON and cost bytes in wasm.
file(STRINGS ${LIST} files)
string(APPEND code "#include \"core/json/embedded_file.h\"\n\nusing namespace std::string_view_literals;\n\nnamespace plimsoll {\n\n"
       "std::span<const PresetFile> ${FUNCTION}() {\n")
if(files)
  string(APPEND code "  static constexpr PresetFile files[] = {\n")
endif()
foreach(file IN LISTS files)
  file(READ ${file} text)
  if(COMPACT)
    string(REGEX REPLACE "[\r\n]+[ \t]*" "" text "${text}")
  endif()
  string(FIND "${text}" ")embed\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the characters that end a C++ raw string: )embed\"")
  endif()
  file(RELATIVE_PATH path ${ROOT} ${file})
  string(APPEND code "      {\"${path}\", R\"embed(${text})embed\"sv},\n")
endforeach()
if(files)
  string(APPEND code "  };\n  return files;\n")
else()
  string(APPEND code "  return {};\n")
endif()
string(APPEND code "}\n\n}  // namespace plimsoll\n")
file(WRITE ${OUTPUT} "${code}")
