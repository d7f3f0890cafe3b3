import { numpy as np } from "@jax-js/jax";

console.log(np.dot(np.ones([2]), np.ones([2], { dtype: np.int32 })).dtype);
// prints: float32
