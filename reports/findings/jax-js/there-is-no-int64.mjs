import { numpy as np } from "@jax-js/jax";

console.log(np.sum(np.array([2147483647, 2], { dtype: np.int32 })).js());
// prints: -2147483647
