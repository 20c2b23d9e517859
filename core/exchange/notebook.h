// A Jupyter notebook, as Colab and Kaggle save it: the code cells are what runs.
//
//     if (is_notebook(text)) Document document = read_notebook(text);   // as if the cells were one Python file
//
// The format: nbformat.readthedocs.io/en/latest/format_description.html (versions 3 and 4).
#pragma once

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

/// Whether a JSON text is a notebook. Costs one search.
bool is_notebook(std::string_view text);

/// The code cells joined, read as Python; or as a command line when they set nothing and a cell starts a
/// program ("!swift sft --model ..."). `code` of the document is that text. Errors: those of json::parse.
Document read_notebook(std::string_view text);
/// The same of its code alone, as `code` of that document has it.
Document read_cells(std::string code);

/// YAML and JSON that cells write with %%writefile, a sentence before each; "" none.
std::string files_written_in(std::string_view text);
/// What its code cells printed when they last ran, errors among it; "" where the JSON cannot be read.
std::string notebook_outputs(std::string_view text);

}  // namespace plimsoll::exchange
