// Puts the files of GraphiQL into `embedded/`, in gzip, from where the build of Keyfold takes them into the binary.

import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";

const files = [
  "graphiql/graphiql.min.css",
  "graphiql/graphiql.min.js",
  "react/umd/react.production.min.js",
  "react-dom/umd/react-dom.production.min.js",
];

const here = (path) => new URL(path, import.meta.url);
for (const file of files) writeFileSync(here(`embedded/${basename(file)}.gz`), gzipSync(readFileSync(here(`node_modules/${file}`)), { level: 9 }));
