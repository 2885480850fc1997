// The page in place of all others while there is no API yet. As soon as there is one, it is loaded again as what it is then.

import { followSchema } from "./schema_news.js";

followSchema({ isServed: false, changed: () => location.reload() });
