//! Tables, items and hints in; types with key templates, and a schema that serves the items, out. Must not know files.
