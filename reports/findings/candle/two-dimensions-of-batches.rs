// Two contiguous batches, of two dimensions and of three.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    for batch in [vec![5, 4], vec![6, 5, 4]] {
        let (left, right) = ([batch.clone(), vec![2, 3]].concat(), [batch, vec![3, 2]].concat());
        let product = Tensor::ones(left, F32, &Cpu)?.matmul(&Tensor::ones(right, F32, &Cpu)?);
        println!("{}", product.map_or_else(|error| error.to_string()[..24].to_owned(), |it| format!("{:?}", it.dims())));
    }
    Ok(())
}
// prints: [5, 4, 2, 2]
// MatMulUnexpectedStriding
