import { numpy as np } from "@jax-js/jax";

console.log(np.broadcastShapes([-1], [1]));
try {
  np.broadcastTo(np.ones([1]), [-1]);
} catch (error) {
  console.log(error.message);
}
// prints: [ -1 ]
//         View shape must be non-negative
