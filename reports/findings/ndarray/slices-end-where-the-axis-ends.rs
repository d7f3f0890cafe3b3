// A slice beyond the end is refused, and one with a negative step goes backwards.
use ndarray::{array, s};

fn main() {
    let x = array![1, 2, 3];
    println!("{}", x.slice(s![..;-1]));
    let beyond = std::panic::catch_unwind(|| x.slice(s![5..]).len());
    println!("{}", beyond.unwrap_err().downcast::<&str>().unwrap());
}
// prints: [3, 2, 1]
// assertion failed: start <= axis_len
