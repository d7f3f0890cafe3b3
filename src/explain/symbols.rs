//! Sizes that have a name instead of a number, such as `B` and `T`.
//!
//! A named size is computed with as a prime number of its own, so that every number that an answer contains is written
//! as the product of names that it stands for. Two names are two different sizes, neither of them 0 or 1, until an
//! [equality](Symbols::equate) says otherwise.

use std::collections::BTreeMap;

/// The names of sizes, and the numbers that stand for them.
///
/// ```
/// use broadcheck_explain::symbols::Symbols;
///
/// let mut symbols = Symbols::default();
/// let (b, t) = (symbols.number("B"), symbols.number("T"));
/// assert_eq!(symbols.label(b * t), "B*T");
/// assert_eq!(symbols.label(7), "7");
/// assert_eq!(symbols.rename(&format!("[{b}, 3, {t}]")), "[B, 3, T]");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    numbers: BTreeMap<String, i64>,
}

/// The numbers that stand for names: primes that hardly anyone has as a size.
const PRIMES: [i64; 24] = [
    10_007, 10_009, 10_037, 10_039, 10_061, 10_067, 10_069, 10_079, 10_091, 10_093, 10_099, 10_103, 10_111, 10_133,
    10_139, 10_141, 10_151, 10_159, 10_163, 10_169, 10_177, 10_181, 10_193, 10_211,
];

impl Symbols {
    /// The number that stands for a name. After the last of 24 names there is none left, and the name counts as the last.
    pub fn number(&mut self, name: &str) -> i64 {
        let next = PRIMES[self.numbers.len().min(PRIMES.len() - 1)];
        *self.numbers.entry(name.to_owned()).or_insert(next)
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The names, each with its number.
    pub fn all(&self) -> impl Iterator<Item = (&str, i64)> {
        self.numbers.iter().map(|(name, number)| (name.as_str(), *number))
    }

    /// The same names where one of them is this number: another name's, or a plain one.
    pub fn equate(&self, name: &str, number: i64) -> Symbols {
        let mut numbers = self.numbers.clone();
        if let Some(was) = numbers.get(name).copied() {
            numbers.values_mut().filter(|value| **value == was).for_each(|value| *value = number);
        }
        Symbols { numbers }
    }

    /// A size as people write it: its name, the product of names and a number, or the number itself.
    pub fn label(&self, size: i64) -> String {
        let mut rest = size;
        let mut factors = Vec::new();
        let mut seen = Vec::new();
        for (name, number) in self.all() {
            if number < PRIMES[0] || seen.contains(&number) {
                continue;
            }
            seen.push(number);
            while rest != 0 && rest % number == 0 {
                factors.push(name.to_owned());
                rest /= number;
            }
        }
        if factors.is_empty() {
            return size.to_string();
        }
        if rest != 1 {
            factors.insert(0, rest.to_string());
        }
        factors.join("*")
    }

    /// A text with the names in place of their numbers.
    pub fn rename(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        let mut renamed = String::with_capacity(text.len());
        let mut digits = String::new();
        for c in text.chars().chain(std::iter::once('\n')) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            if !digits.is_empty() {
                renamed.push_str(&digits.parse().map_or_else(|_| digits.clone(), |size| self.label(size)));
                digits.clear();
            }
            renamed.push(c);
        }
        renamed.pop();
        renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_number() {
        let mut symbols = Symbols::default();
        let (s, t) = (symbols.number("S"), symbols.number("T"));
        assert_ne!(s, t);
        assert_eq!(symbols.number("S"), s);
        let mut same = symbols.equate("T", s);
        assert_eq!(same.number("T"), s);
        let mut one = symbols.equate("T", 1);
        assert_eq!((one.number("T"), one.label(1)), (1, "1".to_owned()));
    }

    #[test]
    fn products_are_products_of_names() {
        let mut symbols = Symbols::default();
        let (b, t) = (symbols.number("B"), symbols.number("T"));
        assert_eq!(symbols.label(2 * b * t), "2*B*T");
        assert_eq!(symbols.label(b * b), "B*B");
        assert_eq!(symbols.rename(&format!("shape '[{b}, -1]' of {}", b * t)), "shape '[B, -1]' of B*T");
        assert_eq!(symbols.rename("99999999999999999999"), "99999999999999999999");
    }
}
