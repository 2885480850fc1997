// Puts the files of GraphiQL into `embedded/`, from where the build of Keyfold takes them into the binary.

import { copyFileSync } from "node:fs";
import { basename } from "node:path";

const files = [
  "graphiql/graphiql.min.css",
  "graphiql/graphiql.min.js",
  "react/umd/react.production.min.js",
  "react-dom/umd/react-dom.production.min.js",
];

const here = (path) => new URL(path, import.meta.url);
for (const file of files) copyFileSync(here(`node_modules/${file}`), here(`embedded/${basename(file)}`));
