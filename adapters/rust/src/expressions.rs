//! What expressions in a row are: names, paths, conversions.

use quote::ToTokens;
use syn::{Expr, Pat};

use crate::scope::{Bound, Scope};

/// Adds the names of a pattern to a scope.
pub fn names(pattern: &Pat, scope: &mut Scope) {
    match pattern {
        Pat::Ident(name) => {
            scope.insert(name.ident.to_string(), Bound::Nothing);
        }
        Pat::Reference(inner) => names(&inner.pat, scope),
        Pat::Type(inner) => names(&inner.pat, scope),
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|pattern| names(pattern, scope)),
        _ => {}
    }
}

/// The name of a function or a variable, if it is a single one.
pub fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) if path.path.segments.len() == 1 => Some(path.path.segments[0].ident.to_string()),
        _ => None,
    }
}

pub fn path_of(expr: &Expr) -> String {
    expr.to_token_stream().to_string().replace(' ', "")
}

/// The `out` of `call.map(|()| out.clone())`.
pub fn target_of(call: &syn::ExprMethodCall) -> Option<&Expr> {
    match (call.method == "map", call.args.first()?) {
        (true, Expr::Closure(closure)) => match &*closure.body {
            Expr::MethodCall(target) if target.method == "clone" => Some(&target.receiver),
            _ => None,
        },
        _ => None,
    }
}

/// A result without the adapter's conversion of it.
pub fn bare(expr: Expr) -> Expr {
    match expr {
        Expr::MethodCall(call)
            if ["collect", "map", "iter", "into_iter", "to_scalar"].contains(&call.method.to_string().as_str()) =>
        {
            bare(*call.receiver)
        }
        Expr::Call(call) if path_of(&call.func).starts_with("Scalar::") && call.args.len() == 1 => {
            bare(call.args.into_iter().next().expect("there is one"))
        }
        other => other,
    }
}
