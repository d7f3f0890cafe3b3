//! Just enough of Rust's grammar to see what a file uses.

/// A path that code mentions, without its root.
#[derive(Debug, PartialEq)]
pub struct Use {
    pub line: usize,
    pub path: Vec<String>,
}

/// The text with comments and the insides of literals blanked out; every line stays where it is.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut code = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let word_before = i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_');
        match chars[i] {
            '/' if at(i + 1) == '/' => i = end_of(&chars, i, |rest| rest[0] == '\n', 0),
            '/' if at(i + 1) == '*' => i = end_of_comment(&chars, i),
            '"' => i = end_of_string(&chars, i),
            'r' if !word_before && raw_hashes(&chars[i + 1..]).is_some() => {
                let hashes = raw_hashes(&chars[i + 1..]).unwrap_or_default();
                let closes =
                    |rest: &[char]| rest[0] == '"' && rest[1..].iter().take_while(|c| **c == '#').count() >= hashes;
                i = end_of(&chars, i + 2 + hashes, closes, 1 + hashes);
            }
            // A lifetime has no closing quote right after its first character.
            '\'' if at(i + 1) == '\\' => i = end_of(&chars, i + 3, |rest| rest[0] == '\'', 1),
            '\'' if at(i + 2) == '\'' => i += 3,
            _ => {
                code.push(chars[i]);
                i += 1;
                continue;
            }
        }
        code.extend(chars[start..i.min(chars.len())].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
    }
    code
}

/// The paths that begin with `root::` in code, groups written out: `crate::{a, b::{c, d}}` is three of them.
pub fn uses(code: &str, root: &str) -> Vec<Use> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices(&format!("{root}::")) {
        if code[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut paths = Vec::new();
        expand(&code[start + root.len() + 2..], &mut Vec::new(), &mut paths);
        let line = code[..start].matches('\n').count() + 1;
        found.extend(paths.into_iter().filter(|path| !path.is_empty()).map(|path| Use { line, path }));
    }
    found
}

/// Reads one path or group and returns what comes after it.
fn expand<'a>(code: &'a str, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return after;
            }
            rest = expand(rest, prefix, paths);
            // ` as name`, then a comma; whatever else there is belongs to no use.
            match rest.find([',', '}']) {
                Some(end) => rest = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]),
                None => return "",
            }
        }
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    if name.is_empty() {
        // A star: everything of the prefix.
        paths.push(prefix.clone());
        return rest;
    }
    prefix.push(name.to_owned());
    let rest = match rest.strip_prefix("::") {
        Some(rest) => expand(rest, prefix, paths),
        None => {
            paths.push(prefix.clone());
            rest
        }
    };
    prefix.pop();
    rest
}

/// The first place from `i` on where `closes` holds, and `more` characters on.
fn end_of(chars: &[char], i: usize, closes: impl Fn(&[char]) -> bool, more: usize) -> usize {
    (i..chars.len()).find(|&i| closes(&chars[i..])).map_or(chars.len(), |i| i + more)
}

fn end_of_string(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

fn end_of_comment(chars: &[char], start: usize) -> usize {
    let (mut i, mut depth) = (start, 0);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

/// The number of hashes before the quote of a raw string, if it is one.
fn raw_hashes(rest: &[char]) -> Option<usize> {
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    (rest.get(hashes) == Some(&'"')).then_some(hashes)
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "a /* b /* c */ d */ e // f\n\"g \\\" h\" r#\"i \" j\"# 'k' '\\'' 'l' <'m> b\"n\" r";
    let code = code_only(text);
    let left: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    assert_eq!((left.as_str(), code.lines().count()), ("ae<'m>br", 2), "{code}");
}

#[test]
fn groups_are_written_out() {
    let found = uses("x;\nuse crate::{a, b::{c as d, e::*}, f,};\n$crate::g::h(); mycrate::i; crate::j!", "crate");
    let found: Vec<(usize, String)> = found.into_iter().map(|it| (it.line, it.path.join("::"))).collect();
    let wanted = [(2, "a"), (2, "b::c"), (2, "b::e"), (2, "f"), (3, "g::h"), (3, "j")];
    assert_eq!(found, wanted.map(|(line, path)| (line, path.to_owned())));
}
