// The field table without its sentences for a person, which only an opened fold shows: the second module says
// them. It takes the place of core/recipe/fields.cpp in the first.
#define PLIMSOLL_FIELD_SENTENCES 0
#include "core/recipe/fields.cpp"
