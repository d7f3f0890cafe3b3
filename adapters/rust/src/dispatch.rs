//! The macros by which an adapter runs the body of a row for the type of its operand.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Token};

/// The parts of a macro that runs its body for a type: `(a, b) float => …, int => …`, or `all a.dtype, A => …`.
pub struct Dispatch {
    /// What selects the body: a tensor, a rank, or dimensions.
    pub operand: Expr,
    /// The names that the body has for types.
    pub names: Vec<String>,
    /// The bodies, each with the category of dtypes that it is for, or without one for any.
    pub bodies: Vec<(String, Expr)>,
}

impl Parse for Dispatch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Dispatch> {
        if input.peek(syn::token::Paren) {
            let operands;
            syn::parenthesized!(operands in input);
            let operand = operands.parse()?;
            let _: TokenStream = operands.parse()?;
            let mut bodies = Vec::new();
            while !input.is_empty() {
                let kind = input.call(Ident::parse_any)?.to_string();
                input.parse::<Token![=>]>()?;
                bodies.push((kind, input.parse()?));
                input.parse::<Option<Token![,]>>()?;
            }
            return Ok(Dispatch { operand, names: Vec::new(), bodies });
        }
        if input.peek(Ident) && input.peek2(Ident) {
            input.parse::<Ident>()?;
        }
        let operand = input.parse()?;
        input.parse::<Token![,]>()?;
        let mut names = Vec::new();
        while !input.peek(Token![=>]) {
            names.push(input.call(Ident::parse_any)?.to_string());
        }
        input.parse::<Token![=>]>()?;
        Ok(Dispatch { operand, names, bodies: vec![(String::new(), input.parse()?)] })
    }
}

/// The name in `a.dtype` or `a.dtype()`.
pub fn base(expr: &Expr) -> &Expr {
    match expr {
        Expr::Field(field) => &field.base,
        Expr::MethodCall(call) => &call.receiver,
        other => other,
    }
}
