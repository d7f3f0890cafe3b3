//! The syntax tree of the Python that people write about tensors.

use std::ops::Range;

/// The height of the highest tree that is read, so that a walk may recurse.
pub const MOST_LEVELS: usize = 100;

/// A statement and its place in the text, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The statement.
    pub kind: StatementKind,
    /// Its place.
    pub span: Range<usize>,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `x + y`, and `return x + y`.
    Expression(Expr),
    /// `r = x + y`, `a = b = x`, `x[0] = y`, and `x: Tensor = y`, whose annotation is left out.
    Assign {
        /// The targets, from the left: names, attributes, subscripts, or tuples and lists of these.
        targets: Vec<Expr>,
        /// The value.
        value: Expr,
    },
    /// `x += y`, `x[0] += y`.
    Augmented {
        /// The target.
        target: Expr,
        /// The operator, without its `=`.
        operator: BinaryOperator,
        /// The value.
        value: Expr,
    },
}

/// An expression and its place in the text, in bytes. Parentheses around an expression belong to its
/// place.
///
/// ```
/// use broadcheck_explain::read::ast::{BinaryOperator, ExprKind, StatementKind};
/// use broadcheck_explain::read::python;
///
/// let statements = python("x[:, None] + y").unwrap();
/// let StatementKind::Expression(sum) = &statements[0].kind else { panic!("an expression") };
/// let ExprKind::Binary { left, operator, right } = &sum.kind else { panic!("a sum") };
/// assert_eq!((*operator, left.span.clone(), right.span.clone()), (BinaryOperator::Add, 0..10, 13..14));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The expression.
    pub kind: ExprKind,
    /// Its place.
    pub span: Range<usize>,
    height: usize,
}

impl Expr {
    /// Creates an expression.
    pub fn new(kind: ExprKind, span: Range<usize>) -> Expr {
        let height = 1 + kind.children().map(Expr::height).max().unwrap_or(0);
        Expr { kind, span, height }
    }

    /// The number of expressions in each other, at most [`MOST_LEVELS`] in what is read.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The expressions that this one directly consists of, in the order of the text.
    pub fn children(&self) -> impl Iterator<Item = &Expr> {
        self.kind.children()
    }

    /// The name, if the expression is nothing else.
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The name with dots, such as `torch.nn.functional`, if the expression is nothing else.
    pub fn dotted(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Name(name) => Some(name.clone()),
            ExprKind::Attribute { value, name, .. } => value.dotted().map(|value| format!("{value}.{name}")),
            _ => None,
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `x`
    Name(String),
    /// `3`, `1_000`, `0xff`
    Int(i64),
    /// `0.5`, `1e-3`
    Float(f64),
    /// `2j`
    Imaginary(f64),
    /// `'mean'`, of any quotes and prefix; neighbours are joined, and an f-string is kept as it is written.
    Str(String),
    /// `True`, `False`
    Bool(bool),
    /// `None`
    None,
    /// `...`
    Ellipsis,
    /// `x.shape`
    Attribute {
        /// The object.
        value: Box<Expr>,
        /// The name after the dot.
        name: String,
        /// Its place.
        name_span: Range<usize>,
    },
    /// `torch.sum(x, dim=1)`
    Call {
        /// The function.
        function: Box<Expr>,
        /// The arguments, in the order of the text.
        arguments: Vec<Argument>,
    },
    /// `x[0, 1:]`; several indices are one [`ExprKind::Tuple`], and a slice is a [`ExprKind::Slice`].
    Subscript {
        /// The object.
        value: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `1:`, `::2`, in a subscript.
    Slice {
        /// The start.
        start: Option<Box<Expr>>,
        /// The end, which is not included.
        stop: Option<Box<Expr>>,
        /// The step.
        step: Option<Box<Expr>>,
    },
    /// `x, y`, `(x,)`, `()`
    Tuple(Vec<Expr>),
    /// `[x, y]`
    List(Vec<Expr>),
    /// `*xs`, in a tuple, a list or a subscript.
    Starred(Box<Expr>),
    /// `-x`
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `x + y`, `x and y`
    Binary {
        /// The left operand.
        left: Box<Expr>,
        /// The operator.
        operator: BinaryOperator,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `x < y`, `0 < x <= 1`
    Compare {
        /// The first operand.
        first: Box<Expr>,
        /// Each operator with the operand after it; one, unless comparisons are chained.
        rest: Vec<(CompareOperator, Expr)>,
    },
}

impl ExprKind {
    fn children(&self) -> impl Iterator<Item = &Expr> {
        use ExprKind::*;
        let (one, more): (Vec<&Expr>, &[Expr]) = match self {
            Name(_) | Int(_) | Float(_) | Imaginary(_) | Str(_) | Bool(_) | None | Ellipsis => (Vec::new(), &[]),
            Attribute { value, .. } | Starred(value) | Unary { operand: value, .. } => (vec![value], &[]),
            Call { function, arguments } => {
                (std::iter::once(&**function).chain(arguments.iter().map(|argument| &argument.value)).collect(), &[])
            }
            Subscript { value, index } => (vec![value, index], &[]),
            Slice { start, stop, step } => {
                ([start, stop, step].into_iter().flatten().map(|part| &**part).collect(), &[])
            }
            Tuple(items) | List(items) => (Vec::new(), items),
            Binary { left, right, .. } => (vec![left, right], &[]),
            Compare { first, rest } => {
                (std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand)).collect(), &[])
            }
        };
        one.into_iter().chain(more)
    }
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The keyword of `dim=1`.
    pub name: Option<String>,
    /// True of `*xs`.
    pub starred: bool,
    /// The value.
    pub value: Expr,
    /// The place of the whole argument.
    pub span: Range<usize>,
}

macro_rules! operators {
    ($(#[$doc:meta])* $enum:ident { $($name:ident $symbol:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $(#[doc = concat!("`", $symbol, "`")] $name),+
        }

        impl $enum {
            /// The operator as it is written.
            pub fn symbol(self) -> &'static str {
                match self { $($enum::$name => $symbol),+ }
            }

            /// The operator that is written as `symbol`.
            pub fn parse(symbol: &str) -> Option<$enum> {
                match symbol { $($symbol => Some($enum::$name),)+ _ => None }
            }
        }
    };
}

operators! {
    /// An operator before its operand.
    UnaryOperator { Negative "-", Positive "+", Invert "~", Not "not" }
}

operators! {
    /// An operator between two operands.
    BinaryOperator {
        Add "+", Subtract "-", Multiply "*", Divide "/", FloorDivide "//", Remainder "%", Power "**", MatMul "@",
        BitAnd "&", BitOr "|", BitXor "^", ShiftLeft "<<", ShiftRight ">>", And "and", Or "or",
    }
}

operators! {
    /// A comparison.
    CompareOperator { Equal "==", NotEqual "!=", Less "<", LessEqual "<=", Greater ">", GreaterEqual ">=" }
}
