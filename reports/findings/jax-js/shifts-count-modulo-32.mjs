import { numpy as np } from "@jax-js/jax";

console.log(np.leftShift(np.array([1], { dtype: np.int32 }), np.array([33], { dtype: np.int32 })).js());
// prints: [ 2 ]
