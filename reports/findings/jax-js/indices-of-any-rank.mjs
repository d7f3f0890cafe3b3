import { numpy as np } from "@jax-js/jax";

console.log(np.take(np.array([1, 2, 3]), np.array([[0]], { dtype: np.int32 }), 0).shape);
// prints: [ 1, 1 ]
