// Without checks for overflow, an amount of 8 bits or more wraps around.
use ndarray::array;

fn main() {
    println!("{}", array![1i8, 1, 1] << &array![1i8, 8, 9]);
}
// prints: [2, 1, 2]
