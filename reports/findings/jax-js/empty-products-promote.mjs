import { numpy as np } from "@jax-js/jax";

console.log(np.matmul(np.ones([0, 1, 1], { dtype: np.int32 }), np.ones([0, 1, 1])).dtype);
// prints: float32
