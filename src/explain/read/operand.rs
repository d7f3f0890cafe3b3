//! Reads the shape and the dtype of an operand out of the ways in which people write them.

use broadcheck_protocol::tensor::DType;

use super::ast::{Argument, Expr, ExprKind, Statement, StatementKind, UnaryOperator};
use super::dtype::{dtype, dtype_of};
use super::error::ReadError;
use super::parser::python;
use super::sizes::{Operand, Size};

/// Reads a shape: `5,3`, `(5, 3)`, `[5, 3]`, `torch.Size([5, 3])`, `5x3`, `B,T,C`, `[]`; with a dtype `5,3:int64`,
/// `5,3 int64`, `float32[5,3]`; or a call that makes a tensor, `torch.randn(5, 3)`, `torch.tensor([[1, 2], [3, 4]])`.
///
/// ```
/// use broadcheck_explain::read::{Size, shape};
///
/// assert_eq!(shape("torch.Size([5, 3])").unwrap().sizes, [Size::Number(5), Size::Number(3)]);
/// assert_eq!(shape("5x3").unwrap(), shape("(5, 3)").unwrap());
/// assert!(shape("[]").unwrap().sizes.is_empty());
/// assert_eq!(shape("5*3").unwrap_err().advice, "write 5,3 for a shape of two dimensions");
/// ```
pub fn shape(text: &str) -> Result<Operand, ReadError> {
    let trimmed = text.trim();
    let offset = text.len() - text.trim_start().len();
    part(trimmed).map_err(|error| error.within(text, offset))
}

/// The operand that an expression makes or spells: a call such as `torch.randn(5, 3)`, a literal, or `float32[5, 3]`.
/// `None` for other expressions, and for sizes that are computed; `text` is where the expression was read.
///
/// ```
/// use broadcheck_explain::read::{ast::StatementKind, creation, python};
///
/// let text = "torch.ones((2, 3), dtype=torch.long)";
/// let StatementKind::Expression(call) = &python(text).unwrap()[0].kind else { panic!("an expression") };
/// assert_eq!(creation(text, call).unwrap().unwrap().to_string(), "[2, 3]");
/// ```
pub fn creation(text: &str, expr: &Expr) -> Result<Option<Operand>, ReadError> {
    match &expr.kind {
        ExprKind::Call { function, arguments } => call(text, function, arguments),
        // `half[5, 3]` and `tensor[5, 3]` may be elements of tensors that have these names.
        ExprKind::Subscript { value, index } => match value.dotted() {
            Some(name) if name.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase()) => {
                bracketed(text, &name, index)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The operand that an expression spells, where a plain number, a name, a tuple and a list are sizes too.
pub fn operand(text: &str, expr: &Expr) -> Result<Option<Operand>, ReadError> {
    let items = match &expr.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items,
        ExprKind::Subscript { value, index } => match value.dotted() {
            Some(name) => return bracketed(text, &name, index),
            None => return Ok(None),
        },
        ExprKind::Call { .. } => return creation(text, expr),
        _ => std::slice::from_ref(expr),
    };
    Ok(sizes(text, items)?.map(|sizes| Operand { sizes, dtype: None }))
}

/// The shape in the brackets after the name of a dtype or of a class of tensors, `float32[5, 3]`, `Tensor[5, 3]`.
fn bracketed(text: &str, name: &str, index: &Expr) -> Result<Option<Operand>, ReadError> {
    let dtype = dtype(name);
    if dtype.is_none() && !NOTATIONS.contains(&name) {
        return Ok(None);
    }
    let items = match &index.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items,
        _ => std::slice::from_ref(index),
    };
    Ok(sizes(text, items)?.map(|sizes| Operand { sizes, dtype }))
}

/// Names before brackets or parentheses that spell a shape, and make nothing.
const NOTATIONS: &[&str] = &["Size", "Tensor", "tensor", "FakeTensor", "Array", "array", "ndarray", "Parameter"];

const HINT: &str = "write a shape as 5,3 or (5, 3), and [] for a shape without dimensions";

fn part(text: &str) -> Result<Operand, ReadError> {
    match attempt(text)? {
        Attempt::Operand(operand) => Ok(operand),
        Attempt::Python(statements) => Err(no_shape(text, &statements)),
    }
}

/// A text that may be a shape.
pub enum Attempt {
    /// It is one.
    Operand(Operand),
    /// It is Python, and no shape.
    Python(Vec<Statement>),
}

/// Reads a text without spaces around it, which may be a shape, and otherwise has to be Python.
pub fn attempt(text: &str) -> Result<Attempt, ReadError> {
    if text.is_empty() {
        return Err(ReadError::new(text, 0..0, "no shape", HINT));
    }
    if let Some(sizes) = crossed(text)? {
        return Ok(Attempt::Operand(Operand { sizes, dtype: None }));
    }
    if let Some((before, name)) = text.rsplit_once(':').filter(|(_, name)| !name.contains([')', ']', '\'', '"', '='])) {
        let Some(dtype) = dtype(name) else {
            let what = format!("{:?} is not a dtype", name.trim());
            let advice = "write one such as float32, int64 or bool";
            return Err(ReadError::new(text, before.len() + 1..text.len(), what, advice));
        };
        let operand = part(before.trim_end()).map_err(|error| error.within(text, 0))?;
        return Ok(Attempt::Operand(Operand { dtype: Some(dtype), ..operand }));
    }
    if let Some((before, name)) = text.rsplit_once(char::is_whitespace)
        && let Some(dtype) = dtype(name)
        && let Ok(Attempt::Operand(operand)) = attempt(before.trim_end().trim_end_matches(','))
    {
        return Ok(Attempt::Operand(Operand { dtype: Some(dtype), ..operand }));
    }
    missing(text)?;
    let statements = python(text).map_err(|error| spelled(text, error))?;
    if let [Statement { kind: StatementKind::Expression(expr), .. }] = statements.as_slice()
        && let Some(operand) = operand(text, expr)?
    {
        return Ok(Attempt::Operand(operand));
    }
    Ok(Attempt::Python(statements))
}

/// Sizes with crosses between them: `5x3`, `5 × 3`. At least two, and numbers only, since `x` is a name.
fn crossed(text: &str) -> Result<Option<Vec<Size>>, ReadError> {
    let inner = text.strip_prefix(['(', '[']).and_then(|inner| inner.strip_suffix([')', ']'])).unwrap_or(text);
    let parts: Vec<&str> = inner.split(['x', 'X', '×']).map(str::trim).collect();
    let digits = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit()) && part.chars().all(digit);
    if parts.len() < 2 || !parts.iter().all(digits) {
        return Ok(None);
    }
    let number = |part: &&str| {
        part.replace('_', "").parse().map(Size::Number).map_err(|_| {
            ReadError::new(text, 0..text.len(), format!("{part} does not fit into 64 bits"), "write a smaller size")
        })
    };
    // `0x10` is a shape of no element here, and a hexadecimal number in Python.
    parts.iter().map(number).collect::<Result<Vec<_>, _>>().map(Some)
}

fn digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}

/// Finds a comma with no size before it.
fn missing(text: &str) -> Result<(), ReadError> {
    let mut before = None;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let empty = match before {
            None => Some(0),
            Some((at, ',' | '(' | '[')) => Some(at),
            _ => None,
        };
        if let Some(start) = empty.filter(|_| c == ',') {
            let what = "a comma without a size before it";
            return Err(ReadError::new(text, start..at + 1, what, "write a size there, or remove the comma"));
        }
        before = Some((at, c));
    }
    Ok(())
}

/// Gives an error of the Python parser the advice that suits a shape.
fn spelled(text: &str, error: ReadError) -> ReadError {
    let written = text.get(error.span.clone()).unwrap_or_default().to_owned();
    let (what, advice) = match error.what.as_str() {
        what if what.ends_with(" is not a number") => {
            (format!("{written} is not a size"), "write a number, or a name that begins with a letter, such as N")
        }
        what if what.ends_with(" directly") => (error.what, "write a comma between sizes, such as 5,3"),
        "the expression ends too early" => (error.what, HINT),
        _ => return error,
    };
    ReadError::new(text, error.span, what, advice)
}

fn no_shape(text: &str, statements: &[Statement]) -> ReadError {
    let expr = match statements {
        [Statement { kind: StatementKind::Expression(expr), .. }] => expr,
        _ => return ReadError::new(text, 0..text.len(), "an assignment, or several statements, are no shape", HINT),
    };
    let items = match &expr.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(expr),
    };
    let culprit = items.iter().find(|item| !matches!(item.kind, ExprKind::Int(_) | ExprKind::Name(_))).unwrap_or(expr);
    let written = text.get(culprit.span.clone()).unwrap_or_default();
    let error =
        |what: &str, advice: &str| ReadError::new(text, culprit.span.clone(), format!("{written} {what}"), advice);
    match &culprit.kind {
        ExprKind::Binary { left, right, operator } if operator.symbol() == "*" => {
            let part = |expr: &Expr| text.get(expr.span.clone()).unwrap_or_default().to_owned();
            error("is a product", &format!("write {},{} for a shape of two dimensions", part(left), part(right)))
        }
        ExprKind::Binary { .. } => error("is computed", "write the number, or one name for it"),
        ExprKind::List(_) | ExprKind::Tuple(_) => {
            error("is not a size", "write one list of sizes, or torch.tensor(…) around the elements of a tensor")
        }
        ExprKind::Call { .. } => error("has no shape that is known", "write the shape, such as 5,3"),
        _ => error("is not a size", HINT),
    }
}

/// The sizes that items spell; `None` if one of them is anything but a number or a name.
fn sizes(text: &str, items: &[Expr]) -> Result<Option<Vec<Size>>, ReadError> {
    let mut sizes = Vec::with_capacity(items.len());
    for item in items {
        match &item.kind {
            ExprKind::Int(number) => sizes.push(Size::Number(*number)),
            ExprKind::Name(name) => sizes.push(Size::Name(name.clone())),
            ExprKind::Unary { operator: UnaryOperator::Negative, operand }
                if matches!(operand.kind, ExprKind::Int(_)) =>
            {
                let written = text.get(item.span.clone()).unwrap_or_default();
                let advice = "sizes are 0 or more: write it without the minus sign";
                return Err(ReadError::new(text, item.span.clone(), format!("{written} is a negative size"), advice));
            }
            ExprKind::Float(_) if items.len() > 1 => {
                let written = text.get(item.span.clone()).unwrap_or_default();
                let what = format!("{written} is not a size");
                return Err(ReadError::new(text, item.span.clone(), what, "write a whole number"));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(sizes))
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn keyword<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Expr> {
    arguments.iter().find(|argument| argument.name.as_deref() == Some(name)).map(|argument| &argument.value)
}

/// The operand of a call that makes a tensor.
fn call(text: &str, function: &Expr, arguments: &[Argument]) -> Result<Option<Operand>, ReadError> {
    if let ExprKind::Attribute { value, name, .. } = &function.kind
        && let Some(operand) = creation(text, value)?
    {
        return Ok(changed(operand, name, arguments));
    }
    let Some(name) = function.dotted() else { return Ok(None) };
    let given: Vec<&Expr> =
        arguments.iter().filter(|argument| argument.name.is_none()).map(|argument| &argument.value).collect();
    if arguments.iter().any(|argument| argument.starred) {
        return Ok(None);
    }
    let numpy = ["np.", "numpy."].iter().any(|module| name.starts_with(module));
    let root = ["torch.", "np.", "numpy.", "jnp.", "jax.", "th.", "nn."].iter().any(|module| name.starts_with(module));
    // `Tensor` in `torch.ops.aten.mul.Tensor` is an overload.
    if name.contains('.') && !root || name.contains(".aten.") {
        return Ok(None);
    }
    let floating = if numpy { DType::Float64 } else { DType::Float32 };
    let listed = |items: &[&Expr]| match items {
        [] => match keyword(arguments, "size").or(keyword(arguments, "shape")) {
            Some(Expr { kind: ExprKind::Tuple(items) | ExprKind::List(items), .. }) => sizes(text, items),
            Some(only) => sizes(text, std::slice::from_ref(only)),
            None => Ok(None),
        },
        [Expr { kind: ExprKind::Tuple(items) | ExprKind::List(items), .. }] => sizes(text, items),
        items => sizes(text, &items.iter().map(|&item| item.clone()).collect::<Vec<_>>()),
    };
    let first = given.get(..1).unwrap_or_default();
    let (sizes, own) = match last(&name) {
        "Size" => (if given.is_empty() { Some(Vec::new()) } else { listed(&given)? }, None),
        _ if NOTATIONS.contains(&last(&name))
            && keyword(arguments, "shape").or(keyword(arguments, "size")).is_some() =>
        {
            (listed(&[])?, None)
        }
        "Parameter" | "Variable" | "ShapedArray" => {
            return first.first().map_or(Ok(None), |only| creation(text, only));
        }
        "randn" | "rand" | "random" if numpy && given.is_empty() => (Some(Vec::new()), Some(floating)),
        "zeros" | "ones" | "empty" if numpy => (listed(first)?, given.get(1).map_or(Some(floating), |it| dtype_of(it))),
        "randn" | "rand" | "zeros" | "ones" | "empty" | "random" => (listed(&given)?, Some(floating)),
        "full" => {
            let value = given.get(1).copied().or(keyword(arguments, "fill_value"));
            (listed(first)?, value.and_then(|value| literal(value, floating)).and_then(|(_, dtype)| dtype))
        }
        "randint" => {
            let shape = given.iter().rev().find(|item| matches!(item.kind, ExprKind::Tuple(_) | ExprKind::List(_)));
            (listed(shape.copied().as_slice())?, Some(DType::Int64))
        }
        "normal" => (listed(given.get(2..3).unwrap_or_default())?, Some(floating)),
        "arange" => (range(&given), Some(if given.iter().any(|it| is_float(it)) { floating } else { DType::Int64 })),
        "linspace" | "logspace" => {
            let count = given.get(2).copied().or(keyword(arguments, "steps")).or(keyword(arguments, "num"));
            (count.map_or(Ok(None), |count| listed(&[count]))?, Some(floating))
        }
        "eye" => {
            let rows = given.first().copied();
            let columns = given.get(1).copied().or(rows);
            (rows.zip(columns).map_or(Ok(None), |(rows, columns)| listed(&[rows, columns]))?, Some(floating))
        }
        "tensor" | "as_tensor" | "array" | "asarray" | "scalar_tensor" => match first {
            [value] => match literal_checked(text, value, floating)? {
                Some((sizes, dtype)) => (Some(sizes), dtype),
                None => return Ok(None),
            },
            _ => (None, None),
        },
        class if class.ends_with("Tensor") && class != "FakeTensor" => match first {
            [value] if matches!(value.kind, ExprKind::List(_)) => {
                let found = literal_checked(text, value, floating)?;
                (found.map(|(sizes, _)| sizes), dtype(class).or(Some(floating)))
            }
            _ => (listed(&given)?, dtype(class).or(Some(floating))),
        },
        _ => return Ok(None),
    };
    let dtype = match keyword(arguments, "dtype") {
        Some(name) => dtype_of(name),
        None => own,
    };
    Ok(sizes.map(|sizes| Operand { sizes, dtype }))
}

/// The operand after a method that changes its dtype or its place; `None` for other methods.
fn changed(operand: Operand, method: &str, arguments: &[Argument]) -> Option<Operand> {
    let dtype = match method {
        "to" | "type" => arguments.iter().find_map(|argument| dtype_of(&argument.value)).or(operand.dtype),
        "cuda" | "cpu" | "clone" | "detach" | "contiguous" | "requires_grad_" => operand.dtype,
        "float" | "double" | "half" | "bfloat16" | "long" | "int" | "short" | "char" | "byte" | "bool" => dtype(method),
        _ => return None,
    };
    Some(Operand { dtype, ..operand })
}

fn is_float(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Float(_) => true,
        ExprKind::Unary { operand, .. } => is_float(operand),
        _ => false,
    }
}

/// The one size of `arange` with these arguments.
fn range(given: &[&Expr]) -> Option<Vec<Size>> {
    fn number(expr: &Expr) -> Option<f64> {
        match &expr.kind {
            ExprKind::Int(number) => Some(*number as f64),
            ExprKind::Float(number) => Some(*number),
            ExprKind::Unary { operator: UnaryOperator::Negative, operand } => number(operand).map(|number| -number),
            _ => None,
        }
    }
    if let [Expr { kind: ExprKind::Name(name), .. }] = given {
        return Some(vec![Size::Name(name.clone())]);
    }
    let given = given.iter().map(|expr| number(expr)).collect::<Option<Vec<_>>>()?;
    let (start, end, step) = match *given.as_slice() {
        [end] => (0.0, end, 1.0),
        [start, end] => (start, end, 1.0),
        [start, end, step] => (start, end, step),
        _ => return None,
    };
    let count = ((end - start) / step).ceil();
    (count.is_finite() && (0.0..1e15).contains(&count)).then(|| vec![Size::Number(count as i64)])
}

/// The shape of a nested literal, and the dtype of its elements.
type Literal = (Vec<Size>, Option<DType>);

fn literal_checked(text: &str, expr: &Expr, floating: DType) -> Result<Option<Literal>, ReadError> {
    if let ExprKind::List(items) | ExprKind::Tuple(items) = &expr.kind {
        let shapes: Vec<_> = items.iter().filter_map(|item| literal(item, floating)).map(|(sizes, _)| sizes).collect();
        let odd = shapes.iter().position(|sizes| Some(sizes) != shapes.first());
        if let Some(item) = odd.filter(|_| shapes.len() == items.len()).and_then(|at| items.get(at)) {
            let what = "an element whose shape differs from the first one's";
            return Err(ReadError::new(text, item.span.clone(), what, "write as many elements in each row"));
        }
    }
    Ok(literal(expr, floating))
}

fn literal(expr: &Expr, floating: DType) -> Option<Literal> {
    let scalar = |dtype| Some((Vec::new(), Some(dtype)));
    match &expr.kind {
        ExprKind::Int(_) => scalar(DType::Int64),
        ExprKind::Bool(_) => scalar(DType::Bool),
        ExprKind::Float(_) => scalar(floating),
        ExprKind::Imaginary(_) => scalar(if floating == DType::Float64 { DType::Complex128 } else { DType::Complex64 }),
        ExprKind::Unary { operand, .. } => literal(operand, floating).filter(|(sizes, _)| sizes.is_empty()),
        ExprKind::Binary { left, right, .. } => {
            let (left, right) = (literal(left, floating)?, literal(right, floating)?);
            (left.0.is_empty() && right.0.is_empty()).then(|| (Vec::new(), promoted(left.1, right.1)))
        }
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            let mut shape: Option<Vec<Size>> = None;
            let mut dtype = if items.is_empty() { Some(floating) } else { None };
            for item in items {
                let (sizes, own) = literal(item, floating)?;
                if shape.as_ref().is_some_and(|shape| *shape != sizes) {
                    return None;
                }
                shape = Some(sizes);
                dtype = promoted(dtype, own);
            }
            let count = Size::Number(i64::try_from(items.len()).ok()?);
            Some((std::iter::once(count).chain(shape.unwrap_or_default()).collect(), dtype))
        }
        // `float('inf')` and `torch.pi`.
        ExprKind::Call { function, .. } if function.name() == Some("float") => scalar(floating),
        ExprKind::Attribute { name, .. } if matches!(name.as_str(), "inf" | "nan" | "pi") => scalar(floating),
        _ => None,
    }
}

fn promoted(a: Option<DType>, b: Option<DType>) -> Option<DType> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.promote(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("5,1,4,1", "[5, 1, 4, 1]"),
            ("(5,3)", "[5, 3]"),
            ("(5,)", "[5]"),
            ("5,", "[5]"),
            ("8", "[8]"),
            (" [5, 3] ", "[5, 3]"),
            ("torch.Size([5, 3])", "[5, 3]"),
            ("torch.Size((5, 3))", "[5, 3]"),
            ("Size([5,3])", "[5, 3]"),
            ("torch.Size([])", "[]"),
            ("torch.Size()", "[]"),
            ("[]", "[]"),
            ("()", "[]"),
            ("5x3", "[5, 3]"),
            ("5 x 3", "[5, 3]"),
            ("5×3", "[5, 3]"),
            ("(5 X 3 x 1)", "[5, 3, 1]"),
            ("0x10", "[0, 10]"),
            ("1_000,3", "[1000, 3]"),
            ("1_000x3", "[1000, 3]"),
            ("B,T,C", "[B, T, C]"),
            ("(B, 1, C)", "[B, 1, C]"),
            ("N", "[N]"),
            ("1000000000,1", "[1000000000, 1]"),
            ("tensor(shape=(5, 3))", "[5, 3]"),
            ("FakeTensor(..., size=(3, 4))", "[3, 4]"),
            ("Tensor[5, 3]", "[5, 3]"),
            ("tensor[5]", "[5]"),
        ] {
            let operand = shape(text).unwrap_or_else(|error| panic!("{}", error.pointed()));
            assert_eq!((operand.to_string().as_str(), operand.dtype), (expected, None), "{text}");
        }
    }

    #[test]
    fn shapes_with_dtypes() {
        for (text, expected) in [
            ("5,3:int64", "[5, 3] int64"),
            ("(5,3) : torch.float16", "[5, 3] float16"),
            ("[]:bool", "[] bool"),
            ("torch.Size([5, 3]) torch.float32", "[5, 3] float32"),
            ("(5, 3), int64", "[5, 3] int64"),
            ("float32[5,3]", "[5, 3] float32"),
            ("f32[]", "error"),
            ("bf16[B, 3]", "[B, 3] bfloat16"),
            ("i64[5]", "[5] int64"),
            ("ShapedArray(float32[5,3])", "[5, 3] float32"),
            ("torch.randn(5, 3)", "[5, 3] float32"),
            ("torch.randn((5, 3))", "[5, 3] float32"),
            ("torch.randn(size=(5, 3))", "[5, 3] float32"),
            ("torch.rand(B, T)", "[B, T] float32"),
            ("torch.zeros(2, 3, dtype=torch.long)", "[2, 3] int64"),
            ("torch.ones((2,3))", "[2, 3] float32"),
            ("torch.ones(3, device='cuda', requires_grad=True)", "[3] float32"),
            ("torch.zeros(3).bool()", "[3] bool"),
            ("torch.zeros(3).to(torch.float64)", "[3] float64"),
            ("torch.zeros(3).cuda()", "[3] float32"),
            ("torch.full((2, 3), True)", "[2, 3] bool"),
            ("torch.full((2,), 1)", "[2] int64"),
            ("torch.randint(0, 10, (3, 4))", "[3, 4] int64"),
            ("torch.randint(10, size=(3,))", "[3] int64"),
            ("torch.arange(6)", "[6] int64"),
            ("torch.arange(1, 7, 2)", "[3] int64"),
            ("torch.arange(0, 1, 0.25)", "[4] float32"),
            ("torch.linspace(0, 1, 5)", "[5] float32"),
            ("torch.eye(3)", "[3, 3] float32"),
            ("torch.tensor([[1,2],[3,4]])", "[2, 2] int64"),
            ("torch.tensor([1, 2.5])", "[2] float32"),
            ("torch.tensor([True, False])", "[2] bool"),
            ("torch.tensor([[1j], [-2]])", "[2, 1] complex64"),
            ("torch.tensor(3)", "[] int64"),
            ("torch.tensor([])", "[0] float32"),
            ("torch.tensor([1, 2], dtype=torch.float16)", "[2] float16"),
            ("torch.FloatTensor(5, 3)", "[5, 3] float32"),
            ("torch.LongTensor([1, 2, 3])", "[3] int64"),
            ("torch.cuda.FloatTensor(2)", "[2] float32"),
            ("nn.Parameter(torch.zeros(4))", "[4] float32"),
            ("np.zeros((2, 3))", "[2, 3] float64"),
            ("np.zeros(3, dtype=np.int32)", "[3] int32"),
            ("np.random.randn(5, 3)", "[5, 3] float64"),
            ("np.arange(3)", "[3] int64"),
            ("np.array([[1.0, 2.0]])", "[1, 2] float64"),
        ] {
            let found = match shape(text) {
                Ok(operand) => format!("{operand} {}", operand.dtype.map_or("none".to_owned(), |it| it.to_string())),
                Err(_) => "error".to_owned(),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_size() {
        for (text, place, what) in [
            ("", "", "no shape"),
            ("5,,3", ",,", "a comma without a size before it"),
            (",3", ",", "a comma without a size before it"),
            ("[,3]", "[,", "a comma without a size before it"),
            ("5,-3", "-3", "-3 is a negative size"),
            ("torch.Size([2, -1])", "-1", "-1 is a negative size"),
            ("5*3", "5*3", "5*3 is a product"),
            ("2N,3", "2N", "2N is not a size"),
            ("2*N,3", "2*N", "2*N is a product"),
            ("N+1,3", "N+1", "N+1 is computed"),
            ("5,1.5", "1.5", "1.5 is not a size"),
            ("0.5", "0.5", "0.5 is not a size"),
            ("5 3", "3", "3 follows 5 directly"),
            ("(5,3", "(", "( is never closed"),
            ("5,3:foo", "foo", "\"foo\" is not a dtype"),
            ("[[1,2],[3,4]]", "[1,2]", "[1,2] is not a size"),
            ("torch.tensor([[1,2],[3]])", "[3]", "an element whose shape differs from the first one's"),
            ("x = 3", "x = 3", "an assignment, or several statements, are no shape"),
            ("x.sum(1)", "x.sum(1)", "x.sum(1) has no shape that is known"),
            ("99999999999999999999,1", "99999999999999999999", "99999999999999999999 does not fit into 64 bits"),
            ("'a'", "'a'", "'a' is not a size"),
            (
                "torch.ops.aten.mul.Tensor(3, 2)",
                "torch.ops.aten.mul.Tensor(3, 2)",
                "torch.ops.aten.mul.Tensor(3, 2) has no shape that is known",
            ),
        ] {
            let error = shape(text).expect_err(text);
            assert_eq!((&text[error.span.clone()], error.what.as_str()), (place, what), "{text}");
            assert!(!error.advice.is_empty());
        }
    }
}
