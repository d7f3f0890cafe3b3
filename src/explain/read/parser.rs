//! Parses Python into the tree of `ast.rs`.

use std::ops::Range;

use super::ast::{
    Argument, BinaryOperator, CompareOperator, Expr, ExprKind, MOST_LEVELS, Statement, StatementKind, UnaryOperator,
};
use super::error::ReadError;
use super::token::{Token, TokenKind, tokens};

/// Parses the Python that people write about tensors: expressions and assignments, one a line or with `;` between.
///
/// Imports are skipped. Not read are blocks (`if`, `for`, `def`), `lambda`, conditional expressions, comprehensions,
/// dictionaries and sets.
///
/// ```
/// use broadcheck_explain::read::ast::StatementKind;
/// use broadcheck_explain::read::python;
///
/// let statements = python("import torch\nr = x[:, None] + y; r += 1").unwrap();
/// assert!(matches!(statements[0].kind, StatementKind::Assign { .. }));
/// assert_eq!(statements[1].span, 33..39);
/// assert_eq!(python("x +").unwrap_err().advice, "write an operand after +");
/// ```
pub fn python(text: &str) -> Result<Vec<Statement>, ReadError> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    let mut statements = Vec::new();
    while let Some(token) = parser.peek() {
        if matches!(token.kind, TokenKind::Newline | TokenKind::Symbol(";")) {
            parser.at += 1;
            continue;
        }
        statements.extend(parser.statement()?);
        match parser.peek().map(|token| &token.kind) {
            None | Some(TokenKind::Newline | TokenKind::Symbol(";")) => {}
            Some(_) => return Err(parser.unexpected()),
        }
    }
    Ok(statements)
}

/// The precedence of `not`, of a comparison, and of a sign, on the scale of [`precedence`].
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const SIGN: u8 = 11;

/// How tightly an operator binds, as Python's reference orders them.
fn precedence(operator: BinaryOperator) -> u8 {
    use BinaryOperator::*;
    match operator {
        Or => 1,
        And => 2,
        BitOr => 5,
        BitXor => 6,
        BitAnd => 7,
        ShiftLeft | ShiftRight => 8,
        Add | Subtract => 9,
        Multiply | Divide | FloorDivide | Remainder | MatMul => 10,
        Power => 12,
    }
}

/// Words that are not read, each with what to write.
const KEYWORDS: &[(&str, &str)] = &[
    ("lambda", "write the expression that it computes"),
    ("if", "write the branch that is taken"),
    ("else", "write the branch that is taken"),
    ("for", "write one step of the loop"),
    ("while", "write one step of the loop"),
    ("in", "write the expression on tensors alone"),
    ("is", "write =="),
    ("def", "write the lines of its body"),
    ("class", "write the lines of a method"),
    ("with", "write the lines of its body"),
    ("try", "write the lines of its body"),
    ("except", "write the lines that are executed"),
    ("raise", "write the expression on tensors alone"),
    ("del", "leave the line out"),
    ("global", "leave the line out"),
    ("assert", "write the expression alone"),
    ("await", "write the expression alone"),
    ("async", "write the expression alone"),
    ("yield", "write the expression alone"),
    ("import", "write it at the start of a line"),
    ("return", "write it at the start of a line"),
];

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Parsed = Result<Expr, ReadError>;

impl Parser<'_> {
    /// Parses a statement, or skips an import.
    fn statement(&mut self) -> Result<Option<Statement>, ReadError> {
        let start = self.start();
        if self.word("import") || self.word("from") || self.word("pass") {
            while self.peek().is_some_and(|token| !matches!(token.kind, TokenKind::Newline | TokenKind::Symbol(";"))) {
                self.at += 1;
            }
            return Ok(None);
        }
        if self.word("return") {
            self.at += 1;
            if self.peek().is_none_or(|token| matches!(token.kind, TokenKind::Newline | TokenKind::Symbol(";"))) {
                return Ok(None);
            }
            let value = self.list()?;
            return Ok(Some(Statement { span: start..value.span.end, kind: StatementKind::Expression(value) }));
        }
        let first = self.list()?;
        let kind = if self.symbol(":") {
            self.at += 1;
            self.check_target(&first)?;
            let annotation = self.expression(0)?;
            if !self.take("=") {
                let advice = "write a value after it, such as x = torch.randn(5, 3), or a shape, such as x=5,3";
                return Err(self.error(first.span.start..annotation.span.end, "an annotation without a value", advice));
            }
            StatementKind::Assign { targets: vec![first], value: self.list()? }
        } else if self.symbol("=") {
            let mut targets = Vec::new();
            let mut value = first;
            while self.take("=") {
                self.check_target(&value)?;
                targets.push(value);
                value = self.list()?;
            }
            StatementKind::Assign { targets, value }
        } else if let Some(operator) = self.augmented() {
            self.check_target(&first)?;
            if matches!(first.kind, ExprKind::Tuple(_) | ExprKind::List(_)) {
                return Err(self.error(first.span, "an augmented assignment to several targets", "write one a line"));
            }
            self.at += 1;
            StatementKind::Augmented { target: first, operator, value: self.list()? }
        } else {
            StatementKind::Expression(first)
        };
        Ok(Some(Statement { span: start..self.end(), kind }))
    }

    fn augmented(&self) -> Option<BinaryOperator> {
        match self.peek()?.kind {
            TokenKind::Symbol("<=" | ">=" | "==" | "!=") => None,
            TokenKind::Symbol(symbol) => symbol.strip_suffix('=').and_then(BinaryOperator::parse),
            _ => None,
        }
    }

    fn check_target(&self, target: &Expr) -> Result<(), ReadError> {
        match &target.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => Ok(()),
            ExprKind::Tuple(items) | ExprKind::List(items) if !items.is_empty() => {
                items.iter().try_for_each(|item| self.check_target(item))
            }
            ExprKind::Starred(value) => self.check_target(value),
            _ => {
                let advice = "write a name, an attribute or a subscript before it; == compares";
                Err(self.error(target.span.clone(), "an assignment to what is no target", advice))
            }
        }
    }

    /// Parses expressions with commas between them: one, or a tuple.
    fn list(&mut self) -> Parsed {
        let start = self.start();
        let first = self.item()?;
        if !self.symbol(",") {
            return match first.kind {
                ExprKind::Starred(_) => {
                    Err(self.error(first.span, "a * before nothing to spread into", "write a comma"))
                }
                _ => Ok(first),
            };
        }
        let mut items = vec![first];
        while self.take(",") {
            if self.at_end_of_list() {
                break;
            }
            items.push(self.item()?);
        }
        self.node(ExprKind::Tuple(items), start..self.end())
    }

    fn at_end_of_list(&self) -> bool {
        self.peek().is_none_or(|token| match token.kind {
            TokenKind::Newline => true,
            TokenKind::Symbol(symbol) => matches!(symbol, ")" | "]" | "}" | "=" | ";" | ":"),
            _ => false,
        })
    }

    fn item(&mut self) -> Parsed {
        let start = self.start();
        if self.take("*") {
            let value = self.expression(5)?;
            return self.node(ExprKind::Starred(Box::new(value)), start..self.end());
        }
        self.expression(0)
    }

    /// Parses an expression of operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Parsed {
        self.depth += 1;
        if self.depth > MOST_LEVELS {
            return Err(self.too_deep(self.start()..self.start() + 1));
        }
        let parsed = self.operators(least);
        self.depth -= 1;
        parsed
    }

    fn operators(&mut self, least: u8) -> Parsed {
        let start = self.start();
        let mut left = self.signed(least)?;
        loop {
            if self.comparison().is_some() {
                if COMPARE < least {
                    return Ok(left);
                }
                let mut rest = Vec::new();
                while let Some(operator) = self.comparison() {
                    self.at += 1;
                    rest.push((operator, self.expression(COMPARE + 1)?));
                }
                left = self.node(ExprKind::Compare { first: Box::new(left), rest }, start..self.end())?;
                continue;
            }
            let Some(operator) = self.operator() else { return Ok(left) };
            let binds = precedence(operator);
            if binds < least {
                return Ok(left);
            }
            self.at += 1;
            let right = self.expression(if operator == BinaryOperator::Power { SIGN } else { binds + 1 })?;
            let kind = ExprKind::Binary { left: Box::new(left), operator, right: Box::new(right) };
            left = self.node(kind, start..self.end())?;
        }
    }

    fn comparison(&self) -> Option<CompareOperator> {
        match self.peek()?.kind {
            TokenKind::Symbol(symbol) => CompareOperator::parse(symbol),
            _ => None,
        }
    }

    fn operator(&self) -> Option<BinaryOperator> {
        match &self.peek()?.kind {
            TokenKind::Symbol(symbol) => BinaryOperator::parse(symbol),
            TokenKind::Name(name) => BinaryOperator::parse(name),
            _ => None,
        }
    }

    fn signed(&mut self, least: u8) -> Parsed {
        let start = self.start();
        let operator = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Symbol(symbol)) => UnaryOperator::parse(symbol),
            Some(TokenKind::Name(name)) => UnaryOperator::parse(name),
            _ => None,
        };
        let Some(operator) = operator else { return self.primary() };
        if operator == UnaryOperator::Not && NOT < least {
            return Err(self.error(start..start + 3, "a not after an operator", "write (not x), or ~x for a tensor"));
        }
        self.at += 1;
        let operand = self.expression(if operator == UnaryOperator::Not { NOT } else { SIGN })?;
        self.node(ExprKind::Unary { operator, operand: Box::new(operand) }, start..self.end())
    }

    fn primary(&mut self) -> Parsed {
        let start = self.start();
        let mut value = self.atom()?;
        loop {
            let kind = if self.take(".") {
                let name_span = self.peek().map_or(self.end()..self.end(), |token| token.span.clone());
                let Some(TokenKind::Name(name)) = self.peek().map(|token| token.kind.clone()) else {
                    return Err(self.error(name_span, "a dot without a name", "write the attribute after the dot"));
                };
                self.at += 1;
                ExprKind::Attribute { value: Box::new(value), name, name_span }
            } else if self.take("(") {
                ExprKind::Call { function: Box::new(value), arguments: self.arguments()? }
            } else if self.take("[") {
                ExprKind::Subscript { value: Box::new(value), index: Box::new(self.index()?) }
            } else {
                return Ok(value);
            };
            value = self.node(kind, start..self.end())?;
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, ReadError> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            let start = self.start();
            if self.symbol("**") {
                return Err(self.error(
                    start..start + 2,
                    "** in a call",
                    "write the keyword arguments that it stands for",
                ));
            }
            let starred = self.take("*");
            let mut name = None;
            if let Some(TokenKind::Name(keyword)) = self.peek().map(|token| &token.kind)
                && !starred
                && self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Symbol("="))
            {
                name = Some(keyword.clone());
                self.at += 2;
            }
            let value = self.expression(0)?;
            arguments.push(Argument { name, starred, value, span: start..self.end() });
            if !self.take(",") && !self.symbol(")") {
                return Err(self.unexpected());
            }
        }
        Ok(arguments)
    }

    fn index(&mut self) -> Parsed {
        let start = self.start();
        if self.take("]") {
            return Err(self.error(start - 1..start + 1, "no index in the brackets", "write an index, such as x[0]"));
        }
        let first = self.slice()?;
        let mut items = vec![first];
        let mut several = false;
        while self.take(",") {
            several = true;
            if self.symbol("]") {
                break;
            }
            items.push(self.slice()?);
        }
        let end = self.end();
        if !self.take("]") {
            return Err(self.unexpected());
        }
        match (several, items.pop()) {
            (false, Some(only)) => Ok(only),
            (_, last) => {
                items.extend(last);
                self.node(ExprKind::Tuple(items), start..end)
            }
        }
    }

    fn slice(&mut self) -> Parsed {
        let start = self.start();
        let mut parts = [None, None, None];
        let mut colons = 0;
        while colons < parts.len() {
            if !self.symbol(":") && !self.symbol(",") && !self.symbol("]") {
                let part = self.item()?;
                if colons == 0 && !self.symbol(":") {
                    return Ok(part);
                }
                parts[colons] = Some(Box::new(part));
            }
            if colons == parts.len() - 1 || !self.take(":") {
                break;
            }
            colons += 1;
        }
        if colons == 0 {
            return Err(self.unexpected());
        }
        let [first, stop, step] = parts;
        self.node(ExprKind::Slice { start: first, stop, step }, start..self.end())
    }

    fn atom(&mut self) -> Parsed {
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected()) };
        let kind = match token.kind {
            TokenKind::Name(name) => match name.as_str() {
                "True" => ExprKind::Bool(true),
                "False" => ExprKind::Bool(false),
                "None" => ExprKind::None,
                word if reserved(word) => return Err(self.unexpected()),
                _ => ExprKind::Name(name),
            },
            TokenKind::Int(number) => ExprKind::Int(number),
            TokenKind::Float(number) => ExprKind::Float(number),
            TokenKind::Imaginary(number) => ExprKind::Imaginary(number),
            TokenKind::Str(mut value) => {
                while let Some(TokenKind::Str(next)) = self.tokens.get(self.at + 1).map(|token| &token.kind) {
                    value.push_str(next);
                    self.at += 1;
                }
                ExprKind::Str(value)
            }
            TokenKind::Symbol("...") => ExprKind::Ellipsis,
            TokenKind::Symbol("(") => return self.parentheses(),
            TokenKind::Symbol("[") => {
                self.at += 1;
                let items = self.items("]")?;
                return self.node(ExprKind::List(items), token.span.start..self.end());
            }
            TokenKind::Symbol("{") => {
                return Err(self.error(token.span, "a dictionary or a set", "write its tensors by their names"));
            }
            TokenKind::Symbol(_) | TokenKind::Newline => return Err(self.unexpected()),
        };
        self.at += 1;
        self.node(kind, token.span.start..self.end())
    }

    fn parentheses(&mut self) -> Parsed {
        let start = self.start();
        self.at += 1;
        let mut items = self.items(")")?;
        let comma = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let comma = comma.is_some_and(|token| token.kind == TokenKind::Symbol(","));
        match items.pop() {
            Some(only) if items.is_empty() && !comma && !matches!(only.kind, ExprKind::Starred(_)) => {
                Ok(Expr::new(only.kind, start..self.end()))
            }
            last => {
                items.extend(last);
                self.node(ExprKind::Tuple(items), start..self.end())
            }
        }
    }

    /// Parses items with commas between them up to the bracket that closes them.
    fn items(&mut self, closing: &str) -> Result<Vec<Expr>, ReadError> {
        let mut items = Vec::new();
        while !self.take(closing) {
            items.push(self.item()?);
            if !self.take(",") && !self.symbol(closing) {
                return Err(self.unexpected());
            }
        }
        Ok(items)
    }

    fn node(&self, kind: ExprKind, span: Range<usize>) -> Parsed {
        let node = Expr::new(kind, span);
        if node.height() > MOST_LEVELS { Err(self.too_deep(node.span)) } else { Ok(node) }
    }

    fn too_deep(&self, span: Range<usize>) -> ReadError {
        let what = format!("an expression of more than {MOST_LEVELS} levels");
        self.error(span, what, "write its parts as statements of their own")
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn symbol(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|token| matches!(token.kind, TokenKind::Symbol(found) if found == symbol))
    }

    fn word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| matches!(&token.kind, TokenKind::Name(found) if found == word))
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.symbol(symbol);
        self.at += usize::from(found);
        found
    }

    /// The place where the next token begins.
    fn start(&self) -> usize {
        self.peek().map_or(self.end(), |token| token.span.start)
    }

    /// The place where the last token ended.
    fn end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end)
    }

    fn error(&self, span: Range<usize>, what: impl Into<String>, advice: impl Into<String>) -> ReadError {
        ReadError::new(self.text, span, what, advice)
    }

    /// The error of the next token, which no rule expects.
    fn unexpected(&self) -> ReadError {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let before = before.and_then(|token| self.text.get(token.span.clone())).unwrap_or_default();
        let operand = match before {
            "" | "\n" => "write an expression".to_owned(),
            before => format!("write an operand after {before}"),
        };
        let Some(token) = self.peek().filter(|token| token.kind != TokenKind::Newline) else {
            return self.error(self.end()..self.end(), "the expression ends too early", operand);
        };
        let written = self.text.get(token.span.clone()).unwrap_or_default();
        let span = token.span.clone();
        match &token.kind {
            TokenKind::Name(name) if reserved(name) => {
                let advice = KEYWORDS.iter().find(|(word, _)| word == name).map_or("remove it", |(_, advice)| advice);
                self.error(span, format!("{name} is not read here"), advice)
            }
            TokenKind::Symbol("!=" | "=" | ":=") => {
                self.error(span, format!("{written} is not expected here"), "write the assignment as its own statement")
            }
            TokenKind::Symbol(_) => self.error(span, format!("{written} is not expected here"), operand),
            _ => {
                let advice = format!("write an operator, a comma or a line end before {written}");
                self.error(span, format!("{written} follows {before} directly"), advice)
            }
        }
    }
}

fn reserved(word: &str) -> bool {
    KEYWORDS.iter().any(|(keyword, _)| *keyword == word) || matches!(word, "and" | "or" | "not" | "from" | "as")
}

#[cfg(test)]
mod tests;
