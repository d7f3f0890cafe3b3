import { numpy as np } from "@jax-js/jax";

const seven = np.array([7], { dtype: np.int32 });
console.log(np.floorDivide(seven.ref, np.array([2], { dtype: np.int32 })).js());
try {
  np.floorDivide(seven, 2);
} catch (error) {
  console.log(error.message);
}
// prints: [ 3 ]
//         Unsupported dtype for Floor: int32
