import { numpy as np } from "@jax-js/jax";

const product = np.matmul(np.array([[true, true], [true, true]]), np.array([[true, true], [true, true]]));
console.log(product.dtype, product.dataSync());
// prints: bool Int32Array(4) [ 2, 2, 2, 2 ]
