//! The text of a Rust file in; the paths, types, functions and macros of its product code out, each with its line. Must
//! not know the rules.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The parts of a file that the rules look at. Items under `#[cfg(test)]` are left out; lines count from 1.
#[derive(Default)]
pub struct Code {
    /// Every path in the file; a grouped `use` gives one path for each name.
    pub paths: Vec<NamedPath>,
    /// The types that other files can name: structs, enums, unions, traits and aliases.
    pub types: Vec<(usize, String)>,
    /// The functions with a body or in a trait.
    pub functions: Vec<Function>,
    /// The names of the macros that it calls.
    pub macros: Vec<(usize, String)>,
    /// The number of lines under `#[cfg(test)]`.
    pub test_lines: usize,
    inline_modules: Vec<String>,
    /// The type or trait around what is visited.
    owner: Option<String>,
}

/// A function and what it is given.
pub struct Function {
    pub line: usize,
    /// Its name, after that of its type or trait if it has one: `Query::new`.
    pub name: String,
    /// How many values it is given besides `self`: a tuple counts by its members.
    pub parameters: usize,
    /// Its lines, from its signature to the end of its body.
    pub lines: usize,
}

/// A path, and the modules written within the file around it.
pub struct NamedPath {
    pub line: usize,
    pub inside: Vec<String>,
    pub names: Vec<String>,
}

impl Code {
    /// Parses a file. Text that is not Rust is a mistake of the caller.
    pub fn parse(path: &str, text: &str) -> Self {
        let file =
            syn::parse_file(text).unwrap_or_else(|error| panic!("{path}:{}: {error}", error.span().start().line));
        let mut code = Self::default();
        code.visit_file(&file);
        code
    }

    fn add_path(&mut self, span: Span, names: Vec<String>) {
        self.paths.push(NamedPath { line: span.start().line, inside: self.inline_modules.clone(), names });
    }

    fn add_use(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_use(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add_path(name.ident.span(), with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add_path(rename.ident.span(), with(&rename.ident)),
            syn::UseTree::Glob(glob) => self.add_path(glob.star_token.spans[0], before.to_vec()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(before, tree)),
        }
    }

    fn add_function(&mut self, signature: &syn::Signature, end: proc_macro2::LineColumn) {
        let parameters = signature.inputs.iter().map(|input| match input {
            syn::FnArg::Receiver(_) => 0,
            syn::FnArg::Typed(input) => values_of(&input.ty),
        });
        let owner = self.owner.iter().map(|owner| format!("{owner}::")).collect::<String>();
        let (line, name) = (signature.ident.span().start().line, format!("{owner}{}", signature.ident));
        let lines = end.line + 1 - signature.span().start().line;
        self.functions.push(Function { line, name, parameters: parameters.sum(), lines });
    }

    /// Visits what is inside a type's implementation or a trait.
    fn within(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        let before = self.owner.replace(owner);
        visit(self);
        self.owner = before;
    }

    fn add_type(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if !matches!(visibility, syn::Visibility::Inherited) {
            self.types.push((name.span().start().line, name.to_string()));
        }
    }

    /// The paths among the arguments of a macro; only the macro knows their grammar.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut names: Vec<(Span, String)> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end_path(&mut names);
                    }
                    names.push((name.span(), name.to_string()));
                    colons = 0;
                }
                other => {
                    self.end_path(&mut names);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.end_path(&mut names);
    }

    fn end_path(&mut self, names: &mut Vec<(Span, String)>) {
        if let [(span, _), _, ..] = names.as_slice() {
            self.add_path(*span, names.iter().map(|(_, name)| name.clone()).collect());
        }
        names.clear();
    }
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if attributes_of(item).iter().any(is_for_tests) {
            self.test_lines += item.span().end().line + 1 - item.span().start().line;
            return;
        }
        match item {
            syn::Item::Struct(item) => self.add_type(&item.vis, &item.ident),
            syn::Item::Enum(item) => self.add_type(&item.vis, &item.ident),
            syn::Item::Union(item) => self.add_type(&item.vis, &item.ident),
            syn::Item::Trait(item) => self.add_type(&item.vis, &item.ident),
            syn::Item::Type(item) => self.add_type(&item.vis, &item.ident),
            syn::Item::Mod(item) if item.content.is_some() => {
                self.inline_modules.push(item.ident.to_string());
                visit::visit_item_mod(self, item);
                self.inline_modules.pop();
                return;
            }
            syn::Item::Fn(function) => self.add_function(&function.sig, function.span().end()),
            _ => {}
        }
        match item {
            syn::Item::Impl(all) => self.within(name_of(&all.self_ty), |code| visit::visit_item(code, item)),
            syn::Item::Trait(all) => self.within(all.ident.to_string(), |code| visit::visit_item(code, item)),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        self.add_function(&method.sig, method.span().end());
        visit::visit_trait_item_fn(self, method);
    }

    /// `pub(super)` says who may use what follows, and uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if method.attrs.iter().any(is_for_tests) {
            self.test_lines += method.span().end().line + 1 - method.span().start().line;
        } else {
            self.add_function(&method.sig, method.span().end());
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            self.add_path(first.ident.span(), path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(name) = call.path.segments.last() {
            self.macros.push((name.span().start().line, name.ident.to_string()));
        }
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }
}

/// How many values a parameter of this type is.
fn values_of(ty: &syn::Type) -> usize {
    match ty {
        syn::Type::Tuple(tuple) => tuple.elems.iter().map(values_of).sum(),
        syn::Type::Paren(inner) => values_of(&inner.elem),
        syn::Type::Reference(reference) if matches!(*reference.elem, syn::Type::Tuple(_)) => values_of(&reference.elem),
        _ => 1,
    }
}

/// The name of a type without its parameters.
fn name_of(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        syn::Type::Reference(reference) => name_of(&reference.elem),
        _ => String::new(),
    }
}

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
