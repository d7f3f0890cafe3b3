import { numpy as np } from "@jax-js/jax";

console.log(np.remainder(np.array([true]), np.array([true])).js(), np.mean(np.array([1, 2], { dtype: np.int32 })).js());
// prints: [ false ] 1.5
