// Where the site will stand, if whoever builds it says so: programs that show links read the picture of a page, and many of them
// by a whole address alone. Without it the site stays relative, and works under any path.
//
//     PLIMSOLL_ADDRESS=https://example.org/plimsoll ./dev build
import type { Plugin } from "vite";

/** The page with its picture by a whole address, and its own address beside it. */
export function addressed(html: string, address: string): string {
  const { href } = new URL(address.endsWith("/") ? address : `${address}/`);
  return html.replace(
    /<meta property="og:image" content="\.\/([^"]*)" \/>/,
    (_, file: string) =>
      `<meta property="og:image" content="${href}${file}" />\n    <meta property="og:url" content="${href}" />`,
  );
}

export const addressOf = (address: string | undefined): Plugin => ({
  name: "address",
  apply: "build",
  transformIndexHtml: { order: "post", handler: (html) => (address ? addressed(html, address) : html) },
});
