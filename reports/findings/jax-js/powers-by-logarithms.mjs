import { numpy as np } from "@jax-js/jax";

console.log(np.power(np.array([3]), 2).js(), np.power(np.array([NaN]), 0).js());
try {
  np.power(np.array([3], { dtype: np.int32 }), 2);
} catch (error) {
  console.log(error.message);
}
// prints: [ 8.999998092651367 ] [ NaN ]
//         Unsupported dtype for Log: int32
