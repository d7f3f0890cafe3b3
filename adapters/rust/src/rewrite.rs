//! From the expression in a row of the operation table to the call of the library that it makes.
//!
//! The expression is the adapter's own: names of arguments become variables and literals, and what the adapter has around
//! the library disappears: `one(a.unsqueeze(Axis(dim)))` of candle becomes `x.unsqueeze(0)`.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use broadcheck_protocol::tensor::{Category, DType, Scalar};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMacro, Ident, Local, Pat, Stmt, Type};

use crate::dispatch::{Dispatch, base};
use crate::expressions::{bare, name_of, names, path_of, target_of};
use crate::language::{Language, Written};
use crate::literal;
use crate::scope::{Bound, Scope, matches};

/// The reason why a call is not written.
#[derive(Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The arm answers without a call of the library.
    NoCall,
    /// The row has an expression that is not understood.
    Because(String),
}

impl<T: Into<String>> From<T> for Unwritable {
    fn from(why: T) -> Unwritable {
        Unwritable::Because(why.into())
    }
}

struct Rewriter<'a, L> {
    language: &'a L,
    scope: Scope,
    /// The tensor that the call writes to.
    out: Option<Bound>,
    /// The types that the adapter has names for.
    types: HashMap<String, String>,
    /// The dtype of the elements.
    dtype: Option<DType>,
    written: Written,
    /// The variables that are written to.
    mutable: RefCell<BTreeSet<String>>,
    error: RefCell<Option<Unwritable>>,
}

/// Writes the call that an arm makes of arguments.
pub fn rewrite<L: Language>(
    language: &L,
    pattern: &Pat,
    answer: Expr,
    arguments: Vec<Bound>,
    out: Option<Bound>,
) -> Result<Written, Unwritable> {
    let mut scope = Scope::new();
    if !matches(pattern, &Bound::Arguments(arguments), &mut scope) {
        return Err(format!("the arguments are not {}", pattern.to_token_stream()).into());
    }
    let types = HashMap::new();
    let written = Written::default();
    let mut rewriter = Rewriter {
        language,
        scope,
        out,
        types,
        dtype: None,
        written,
        mutable: RefCell::default(),
        error: RefCell::default(),
    };
    rewriter.answer(answer)?;
    match rewriter.error.into_inner() {
        Some(error) => Err(error),
        None => Ok(Written { mutable: rewriter.mutable.into_inner(), ..rewriter.written }),
    }
}

impl<L: Language> Rewriter<'_, L> {
    fn answer(&mut self, expr: Expr) -> Result<(), Unwritable> {
        match expr {
            Expr::Paren(inner) => self.answer(*inner.expr),
            Expr::Macro(inner) => {
                let body = self.dispatched(&inner)?;
                self.answer(body)
            }
            Expr::Block(block) => {
                let mut statements = block.block.stmts;
                let last = statements.pop();
                statements.into_iter().try_for_each(|statement| self.statement(statement))?;
                match last {
                    Some(Stmt::Expr(value, None)) => self.answer(value),
                    Some(Stmt::Macro(inner)) => {
                        let body = self.dispatched(&ExprMacro { attrs: Vec::new(), mac: inner.mac })?;
                        self.answer(body)
                    }
                    _ => Err("a block without a value".into()),
                }
            }
            Expr::Match(inner) => {
                let bound = self.resolved(&inner.expr).ok_or("a match of something else than an argument")?;
                let mut scope = self.scope.clone();
                let fits = |arm: &syn::Arm| matches!(arm.pat, Pat::Guard(_)) || matches(&arm.pat, &bound, &mut scope);
                let arm = inner.arms.into_iter().find(fits);
                self.scope = scope;
                let arm = arm.ok_or("a match without an arm")?;
                if matches!(arm.pat, Pat::Guard(_)) {
                    return Err("a guard".into());
                }
                self.answer(*arm.body)
            }
            Expr::If(inner) => {
                let Some(Bound::Flag(flag)) = self.resolved(&inner.cond) else { return Err("a condition".into()) };
                match (flag, inner.else_branch) {
                    (true, _) => self.answer(Expr::Block(syn::ExprBlock {
                        attrs: Vec::new(),
                        label: None,
                        block: inner.then_branch,
                    })),
                    (false, Some((_, other))) => self.answer(*other),
                    (false, None) => Err("a condition without its opposite".into()),
                }
            }
            Expr::Call(call) => {
                let name = name_of(&call.func).unwrap_or_default();
                self.written.annotation = self.annotation(&call.func);
                let mut args: Vec<Expr> = call.args.into_iter().collect();
                match (name.as_str(), args.len()) {
                    ("one" | "new", 1) => self.result(args.remove(0)),
                    ("same", 1) => self.alias(&args[0]),
                    ("in_place", 2) => {
                        let value = self.text(args.remove(1));
                        self.written.before.push(format!("{value}?;"));
                        self.alias(&args[0])
                    }
                    ("written", 2) => {
                        let value = self.text(args.remove(1));
                        self.alias(&args[0])?;
                        let name = self.written.alias.clone().unwrap_or_default();
                        self.written.before.push(format!("{name} = {value}.into_dyn();"));
                        self.mutable.borrow_mut().insert(name);
                        Ok(())
                    }
                    ("Ok", 1) => match args.remove(0) {
                        Expr::Call(inner) if path_of(&inner.func).starts_with("Returned::") => {
                            let inner = inner.args.into_iter().next().ok_or("a result without a value")?;
                            self.value(bare(inner), false);
                            Ok(())
                        }
                        other => Err(format!("the result {}", other.to_token_stream()).into()),
                    },
                    ("Err", 1) => Err(Unwritable::NoCall),
                    _ => {
                        let arguments = args.iter().map(|arg| self.argument(arg)).collect::<Vec<_>>();
                        let text = self.language.helper(&name, &arguments, self.dtype);
                        self.written.value = Some(text.ok_or_else(|| format!("the function {name}"))?);
                        self.written.is_result = L::RESULTS;
                        Ok(())
                    }
                }
            }
            Expr::MethodCall(mut call) if call.args.len() == 1 => {
                let argument = call.args.pop().expect("there is one");
                match (call.method.to_string().as_str(), argument) {
                    ("and_then", Expr::Closure(closure)) => self.answer(*closure.body),
                    // A view is kept as an array of its own.
                    ("view", view) => {
                        let view = self.text(view);
                        self.written.value = Some(format!("{view}.to_owned()"));
                        Ok(())
                    }
                    (name, _) => Err(format!("the method {name}").into()),
                }
            }
            other => Err(format!("the answer {}", other.to_token_stream()).into()),
        }
    }

    /// The argument of `one` or `new`: what the library returns.
    fn result(&mut self, expr: Expr) -> Result<(), Unwritable> {
        match expr {
            Expr::Call(call) if name_of(&call.func).as_deref() == Some("Ok") => {
                self.value(call.args.into_iter().next().ok_or("Ok of nothing")?, false);
                Ok(())
            }
            // A method that writes to its tensor, and returns a reference to it.
            Expr::MethodCall(call) if call.method == "cloned" => {
                let target = match &*call.receiver {
                    Expr::MethodCall(inner) => inner.receiver.clone(),
                    _ => return Err("a reference".into()),
                };
                let value = self.text(*call.receiver);
                self.written.before.push(format!("{value}?;"));
                self.alias(&target)
            }
            // A function that writes to a tensor, and returns nothing.
            Expr::MethodCall(call) if target_of(&call).is_some() => {
                let target = target_of(&call).expect("there is one").clone();
                let value = self.text(*call.receiver);
                self.written.before.push(format!("{value}?;"));
                self.alias(&target)
            }
            other => {
                self.value(other, L::RESULTS);
                Ok(())
            }
        }
    }

    /// The type of the result, from the generic arguments of `one`.
    fn annotation(&self, function: &Expr) -> Option<String> {
        let Expr::Path(path) = function else { return None };
        let syn::PathArguments::AngleBracketed(given) = &path.path.segments.last()?.arguments else { return None };
        let known = |argument: &syn::GenericArgument| self.types.get(&argument.to_token_stream().to_string()).cloned();
        Some(format!("Tensor<{}>", given.args.iter().map(known).collect::<Option<Vec<_>>>()?.join(", ")))
    }

    fn alias(&mut self, target: &Expr) -> Result<(), Unwritable> {
        let Some(Bound::Tensor(tensor)) = self.resolved(target) else {
            return Err(format!("the target {}", target.to_token_stream()).into());
        };
        self.written.alias = Some(tensor.name.clone());
        Ok(())
    }

    fn value(&mut self, expr: Expr, is_result: bool) {
        self.written.value = Some(self.text(expr));
        self.written.is_result = is_result;
    }

    fn statement(&mut self, statement: Stmt) -> Result<(), Unwritable> {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, Some(_)) => {
                let text = self.text(expr);
                self.written.before.push(format!("{text};"));
                Ok(())
            }
            other => Err(format!("the statement {}", other.to_token_stream()).into()),
        }
    }

    /// A name for what an argument is, or a variable of the program.
    fn local(&mut self, local: Local) -> Result<(), Unwritable> {
        let init = local.init.ok_or("a variable without a value")?.expr;
        match (local.pat, *init) {
            (Pat::Tuple(names), Expr::Tuple(values)) => {
                for (name, value) in names.elems.into_iter().zip(values.elems) {
                    self.variable(name, value);
                }
            }
            (name, value) => self.variable(name, value),
        }
        Ok(())
    }

    fn variable(&mut self, pattern: Pat, value: Expr) {
        let is_mutable = matches!(&pattern, Pat::Ident(name) if name.mutability.is_some());
        if let (Pat::Ident(name), Some(bound)) = (&pattern, self.without_references(&value).filter(|_| !is_mutable)) {
            self.scope.insert(name.ident.to_string(), bound);
            return;
        }
        let value = self.text(value);
        if let Pat::Ident(name) = &pattern {
            self.scope.remove(&name.ident.to_string());
        }
        let pattern = pattern.to_token_stream();
        self.written.before.push(format!("let {pattern} = {value};"));
    }

    /// The same of a reference, or of what it refers to.
    fn without_references(&self, expr: &Expr) -> Option<Bound> {
        match expr {
            Expr::Reference(inner) => self.without_references(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => self.without_references(&inner.expr),
            other => self.resolved(other),
        }
    }

    /// What an expression is, if it is a name of an argument, or the adapter's way to one.
    fn resolved(&self, expr: &Expr) -> Option<Bound> {
        match expr {
            Expr::Paren(inner) => self.resolved(&inner.expr),
            Expr::Path(_) => self.scope.get(&name_of(expr)?).cloned(),
            Expr::Index(index) if matches!(&*index.index, Expr::Range(range) if range.start.is_none() && range.end.is_none()) => {
                self.resolved(&index.expr)
            }
            Expr::Try(inner) => match &*inner.expr {
                Expr::MethodCall(call) if ["get", "get_mut"].contains(&call.method.to_string().as_str()) => {
                    self.resolved(&call.receiver)
                }
                Expr::Call(call) => {
                    let name = name_of(&call.func)?;
                    if name == "target" {
                        return self.out.clone();
                    }
                    let arguments = call.args.iter().map(|arg| self.argument(arg)).collect::<Vec<_>>();
                    self.helped(&name, &arguments)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The same, or the expression that it becomes.
    fn argument(&self, expr: &Expr) -> Bound {
        self.resolved(expr).unwrap_or_else(|| {
            let mut inner = Rewriter {
                language: self.language,
                scope: self.scope.clone(),
                out: self.out.clone(),
                types: self.types.clone(),
                dtype: self.dtype,
                written: Written::default(),
                mutable: RefCell::default(),
                error: RefCell::default(),
            };
            let mut expr = expr.clone();
            inner.visit_expr_mut(&mut expr);
            self.mutable.borrow_mut().append(&mut inner.mutable.borrow_mut());
            if let Some(error) = inner.error.take() {
                self.error.replace(Some(error));
            }
            Bound::Expr(Box::new(expr))
        })
    }

    /// What a function of the adapter returns: those that all adapters have, and the language's.
    fn helped(&self, name: &str, arguments: &[Bound]) -> Option<Bound> {
        let own = self.language.helper(name, arguments, self.dtype);
        let text = own.or_else(|| {
            Some(match (name, arguments) {
                ("natural", [Bound::Int(int)]) => int.to_string(),
                ("naturals", [Bound::Ints(ints)]) => literal::sizes(ints),
                ("signed", [Bound::Ints(ints)]) if ints.is_empty() => "Vec::<isize>::new()".to_owned(),
                ("signed", [Bound::Ints(ints)]) => format!("vec![{}]", literal::list(ints)),
                ("array", [Bound::Ints(ints)]) => format!("[{}]", literal::integer_list(ints)),
                ("real", [Bound::Number(Scalar::Int(int))]) => literal::number(Scalar::Float(*int as f64), None),
                ("real", [Bound::Number(number)]) => literal::number(*number, None),
                ("literal" | "element", [Bound::Number(number)]) => literal::number(*number, self.dtype),
                _ => return None,
            })
        })?;
        Some(Bound::Expr(syn::parse_str(&text).ok()?))
    }

    fn text(&mut self, mut expr: Expr) -> String {
        self.visit_expr_mut(&mut expr);
        expr.to_token_stream().to_string()
    }

    /// The body that a macro runs for the type of its operand, or with a name for what its first argument is.
    fn dispatched(&mut self, expr: &ExprMacro) -> Result<Expr, Unwritable> {
        let name = expr.mac.path.to_token_stream().to_string();
        let dispatch: Dispatch = syn::parse2(expr.mac.tokens.clone()).map_err(|error| format!("{name}!: {error}"))?;
        if let Some(count) = self.evaluated(&dispatch.operand) {
            self.types.insert(dispatch.names.first().cloned().unwrap_or_default(), count.to_string());
            return dispatch
                .bodies
                .into_iter()
                .next()
                .map(|(_, body)| body)
                .ok_or_else(|| format!("{name}! without a body").into());
        }
        let tensor = match self.resolved(base(&dispatch.operand)) {
            Some(Bound::Tensor(tensor)) => tensor,
            // Dimensions, in the way that the library takes them.
            Some(given) => {
                let (Some(variable), Some((_, body))) = (dispatch.names.first(), dispatch.bodies.into_iter().next())
                else {
                    return Err(format!("{name}! without a body").into());
                };
                let bound = self.helped(&name, &[given]).ok_or_else(|| format!("{name}!"))?;
                self.scope.insert(variable.clone(), bound);
                return Ok(body);
            }
            None => return Err(format!("{name}! of no argument").into()),
        };
        let dtype = tensor.value.dtype;
        self.dtype = Some(dtype);
        for (name, meaning) in dispatch.names.iter().zip(self.language.types(&tensor)) {
            self.types.insert(name.clone(), meaning);
        }
        let kind = match dtype.category() {
            Category::Bool => "bool",
            Category::Integral => "int",
            Category::Floating => "float",
            Category::Complex => "complex",
        };
        let fits = |of: &str| [kind, "all", ""].contains(&of);
        let body = dispatch.bodies.into_iter().find(|(of, _)| fits(of));
        body.map(|(_, body)| body).ok_or_else(|| format!("{name}! has nothing for {dtype}").into())
    }

    /// A rank, which the adapter computes of ranks and of numbers of dimensions.
    fn evaluated(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Path(_) => self.types.get(&name_of(expr)?)?.parse().ok(),
            Expr::Lit(_) => expr.to_token_stream().to_string().parse().ok(),
            Expr::Binary(binary) => {
                let (left, right) = (self.evaluated(&binary.left)?, self.evaluated(&binary.right)?);
                match binary.op {
                    syn::BinOp::Add(_) => Some(left + right),
                    syn::BinOp::Sub(_) => Some(left - right),
                    _ => None,
                }
            }
            Expr::Field(field) if field.member.to_token_stream().to_string() == "rank" => {
                let Some(Bound::Tensor(tensor)) = self.resolved(&field.base) else { return None };
                Some(tensor.value.shape.rank() as i64)
            }
            Expr::MethodCall(call) if call.method == "len" => {
                let Some(Bound::Ints(ints)) = self.resolved(&call.receiver) else { return None };
                Some(ints.len() as i64)
            }
            Expr::MethodCall(call) if call.method == "saturating_sub" => {
                Some((self.evaluated(&call.receiver)? - self.evaluated(call.args.first()?)?).max(0))
            }
            _ => None,
        }
    }
}

impl<L: Language> VisitMut for Rewriter<'_, L> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(bound) = self.resolved(expr) {
            if let Expr::Try(inner) = expr
                && let (Expr::MethodCall(call), Bound::Tensor(tensor)) = (&*inner.expr, &bound)
            {
                if call.method == "get_mut" {
                    self.mutable.borrow_mut().insert(tensor.name.clone());
                }
                if L::BY_VALUE {
                    *expr = parsed(&format!("{}.clone()", tensor.name));
                    return;
                }
            }
            match expression::<L>(&bound) {
                Some(found) => *expr = found,
                None => {
                    self.error.replace(Some(format!("{} in an expression", expr.to_token_stream()).into()));
                }
            }
            return;
        }
        match expr {
            Expr::Call(call) => {
                if let Some(name) = name_of(&call.func) {
                    let arguments = call.args.iter().map(|arg| self.argument(arg)).collect::<Vec<_>>();
                    if let Some(found) = self.helped(&name, &arguments).as_ref().and_then(expression::<L>) {
                        *expr = found;
                        return;
                    }
                }
                visit_mut::visit_expr_call_mut(self, call);
            }
            Expr::MethodCall(call) => {
                visit_mut::visit_expr_method_call_mut(self, call);
                if let Expr::Reference(inner) = &mut *call.receiver {
                    *call.receiver = (*inner.expr).clone();
                }
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                visit_mut::visit_expr_unary_mut(self, unary);
                if let Expr::Reference(inner) = &*unary.expr {
                    *expr = (*inner.expr).clone();
                }
            }
            Expr::Reference(reference) => {
                visit_mut::visit_expr_reference_mut(self, reference);
                match &mut *reference.expr {
                    Expr::Reference(_) => *expr = (*reference.expr).clone(),
                    // A slice is an array where it is a literal.
                    Expr::Macro(inner) if inner.mac.path.is_ident("vec") => {
                        *expr = parsed(&format!("&[{}]", inner.mac.tokens));
                    }
                    _ => {}
                }
            }
            Expr::Cast(cast) => {
                visit_mut::visit_expr_cast_mut(self, cast);
                let inner = if let Expr::Unary(unary) = &*cast.expr { &unary.expr } else { &cast.expr };
                if let Expr::Lit(literal) = &**inner
                    && let syn::Lit::Int(int) = &literal.lit
                    && int.suffix().is_empty()
                {
                    *expr = (*cast.expr).clone();
                }
            }
            Expr::Try(inner) => {
                visit_mut::visit_expr_try_mut(self, inner);
                // What the adapter alone could reject.
                if let Expr::Call(call) = &*inner.expr
                    && name_of(&call.func).as_deref() == Some("Ok")
                    && let Some(value) = call.args.first()
                {
                    *expr = value.clone();
                }
            }
            Expr::Macro(inner) if !inner.mac.path.is_ident("vec") => match self.dispatched(&inner.clone()) {
                Ok(mut body) => {
                    self.visit_expr_mut(&mut body);
                    *expr = body;
                }
                Err(error) => {
                    self.error.replace(Some(error));
                }
            },
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let outer = self.scope.clone();
        let mut own = Scope::new();
        closure.inputs.iter().for_each(|input| names(input, &mut own));
        self.scope.retain(|name, _| !own.contains_key(name));
        visit_mut::visit_expr_closure_mut(self, closure);
        self.scope = outer;
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if let Some(first) = path.segments.first_mut()
            && let Some(name) = L::ALIASES.iter().find(|(alias, _)| first.ident == alias)
        {
            first.ident = Ident::new(name.1, first.ident.span());
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_type_mut(&mut self, of: &mut Type) {
        if let Type::Path(path) = of
            && let Some(name) = path.path.get_ident()
            && let Some(meaning) = self.types.get(&name.to_string())
            && let Ok(meaning) = syn::parse_str(meaning)
        {
            *of = meaning;
            return;
        }
        visit_mut::visit_type_mut(self, of);
    }
}

/// The expression of what a name stands for, if Rust has one.
fn expression<L: Language>(bound: &Bound) -> Option<Expr> {
    Some(parsed(&match bound {
        Bound::Tensor(tensor) if L::BY_VALUE => format!("{}.clone()", tensor.name),
        Bound::Tensor(tensor) => format!("&{}", tensor.name),
        Bound::Int(int) => literal::integer_list(&[*int]),
        Bound::Ints(ints) if ints.is_empty() => "&[0i64; 0]".to_owned(),
        Bound::Ints(ints) => format!("&[{}]", literal::integer_list(ints)),
        Bound::Number(number) => literal::number(*number, None),
        Bound::Flag(flag) => flag.to_string(),
        Bound::Text(text) => format!("{text:?}"),
        Bound::Expr(expr) => return Some((**expr).clone()),
        _ => return None,
    }))
}

fn parsed(text: &str) -> Expr {
    syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
