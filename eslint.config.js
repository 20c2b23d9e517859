// What neither the types nor the eye of a reader finds. How the sources are laid out is Prettier's, names that nobody uses and
// names that nobody declares are tsc's.
import eslint from "@eslint/js";
import { configs as lit } from "eslint-plugin-lit";
import { configs as components } from "eslint-plugin-wc";
import { defineConfig } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(
  eslint.configs.recommended,
  typescript.configs.recommended,
  lit["flat/all"],
  components["flat/best-practice"],
  {
    rules: {
      // tsc says both. What the browser is given in tests/web/firefox.mjs runs in the page, the rest in Node.
      "no-undef": "off",
      "@typescript-eslint/no-unused-vars": "off",
      // Texts that people paste have such signs, and they are looked for on purpose.
      "no-control-regex": "off",
      // Every element is a LitElement, which has all of its callbacks.
      "wc/guard-super-call": "off",
      // It takes a handler that stands in the template for a part of render().
      "lit/no-this-assign-in-render": "off",
      // The value of a radio button or an option says which it is, and stays.
      "lit/no-value-attribute": "off",
      // A line end as a literal is shown, one of the template would be laid out anew.
      "lit/no-useless-template-literals": "off",
      // Taste: a list of twenty is drawn as fast as with `repeat`, and a handler is read where it belongs.
      "lit/no-template-map": "off",
      "lit/no-template-arrow": "off",
    },
  },
);
