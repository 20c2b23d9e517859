# Packs presets into two texts that the page fetches beside its modules: what the first answer needs, and the rest.
#
#   cmake -D ROOT=/…/presets -D LIST=presets.list -D FIRST=first.txt -D REST=rest.txt -P pack.cmake
#
# LIST names one file a line. A text has one file a line: its path, a tab, its JSON without line breaks. REST holds the
# models and the clouds, FIRST all else and the models of the scenarios; core/run/catalog.h reads both.
file(STRINGS ${LIST} files)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX REPLACE "[\r\n]+[ \t]*" "" text "${text}")
  file(RELATIVE_PATH path ${ROOT} ${file})
  set(line "${path}\t${text}\n")
  if(path MATCHES "^clouds/")
    string(APPEND rest "${line}")
  elseif(path MATCHES "^models/")
    string(APPEND rest "${line}")
    string(REGEX REPLACE "^models/|[.]json$" "" id ${path})
    # The rest holds it again, as it is in the file: no answer quotes these.
    string(REGEX REPLACE "\"sources\": \\[[^]]*\\]" "\"sources\": []" line "${line}")
    string(REGEX REPLACE "\"notes\": \"[^\"]*\"" "\"notes\": \"\"" line "${line}")
    set(model_${id} "${line}")
  else()
    if(path MATCHES "^gpus/")
      # Where the figures of a card come from, remarks on it, and figures that no answer needs: for whoever reads the file. A
      # browser need not fetch them.
      string(REGEX REPLACE "\"([a-z0-9_]*_note|pcie|type|measured_source|power_w|power_range_w|fp(32|8|4)_tflops|tf32_tflops|fp(32|4)_range_tflops)\": (\"[^\"]*\"|[0-9.]+|\\[[^]]*\\]),?"
                           "" line "${line}")
      string(REPLACE ",}" "}" line "${line}")
      string(REGEX REPLACE "\"(notes|tensor_source|nvidia_smi_source)\": \"[^\"]*\"" "\"\\1\": \"\"" line "${line}")
      string(REGEX REPLACE "\"sources\": \\[[^]]*\\]" "\"sources\": []" line "${line}")
    endif()
    if(path MATCHES "^stacks/")
      # Where a default comes from, likewise; the reader asks for a source.
      string(REGEX REPLACE "\"source\": \"[^\"]*\"" "\"source\": \"-\"" line "${line}")
    endif()
    string(APPEND first "${line}")
    if(path MATCHES "^scenarios/")
      string(JSON model GET "${text}" request model)
      string(REGEX REPLACE "^.*/" "" model "${model}")
      string(TOLOWER "${model}" model)
      list(APPEND opened ${model})
    endif()
  endif()
endforeach()
list(REMOVE_DUPLICATES opened)
foreach(model IN LISTS opened)
  string(APPEND first "${model_${model}}")
endforeach()
# A quotation mark in a text is escaped.
string(REGEX REPLACE "([^\\\\]\"): " "\\1:" first "${first}")
file(WRITE ${FIRST} "${first}")
file(WRITE ${REST} "${rest}")
