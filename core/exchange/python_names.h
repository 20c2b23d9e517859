// What the names of a script stand for, as far as its own text says it.
//
//     args.batch_size     the default of parser.add_argument("--batch-size", default=4)
//     cfg.model_id        the field of a class, or what its call gives it: Config(model_id="...")
//     rank                the parameter of a function: what a call gives it, else its default
//
// A reader fills one while it reads, and asks the one of the reading before for what stands further below.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/exchange/tree.h"

namespace plimsoll::exchange {

class PythonNames {
 public:
  /// `function` is the one that the assignment stands in; "" none.
  void assign(const std::string& function, const std::string& name, Node value);
  /// A parameter of a function, or of a class as its call takes it, in order; null: it has no default.
  void add_parameter(const std::string& function, const std::string& name, const Node* value);
  void add_field(const std::string& type, const std::string& name, Node value);
  /// The value that a flag of the script's own command line has when it is left out.
  void add_flag(const Node& arguments);
  /// Keeps what a function or a class of this script is called with.
  void add_call(const std::string& name, const Node& arguments, const PythonNames* before);
  /// What a function of this script gives back, where that is a dict or a plain value.
  void add_return(const std::string& function, Node value);
  const Node* returned(const std::string& function) const;
  bool has_functions() const { return !parameters_.empty(); }

  /// Null where nothing is known. `before` holds the calls that stand further below.
  const Node* find(const std::string& function, const std::string& name,
                   const PythonNames* before = nullptr) const;
  /// The flag whose default this is; "" none.
  std::string flag_of(const Node* found) const;
  /// What is assigned to a name, whatever it stands in; null when nothing is.
  Node* assigned(const std::string& function, const std::string& name);

 private:
  struct Parameter {
    std::string name;
    Node value;
    bool has_value = false;
  };
  const Node* parameter(const std::string& function, const std::string& name,
                        const PythonNames* before) const;
  const Node* attribute(const std::string& name) const;
  const Node* field(const std::string& type, const std::string& name) const;
  const std::string& type_of(const std::string& object) const;

  std::map<std::string, Node> assigned_;                      ///< by name, and by function and name
  std::map<std::string, std::vector<Parameter>> parameters_;  ///< of functions and classes
  std::map<std::string, std::vector<Node>> calls_;
  std::map<std::string, std::map<std::string, Node>> fields_;  ///< of classes
  std::map<std::string, Node> flags_;
  std::map<std::string, Node> returns_;
};

/// field(default=4, ...), Field(4, ...), typer.Option(4, ...): what is inside.
Node plain_default(Node value);

}  // namespace plimsoll::exchange
