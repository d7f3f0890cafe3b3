import { numpy as np } from "@jax-js/jax";

console.log(np.rightShift(np.array([-1], { dtype: np.int32 }), np.array([1], { dtype: np.int32 })).js());
// prints: [ 2147483647 ]
