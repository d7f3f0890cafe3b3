import { numpy as np } from "@jax-js/jax";

console.log(np.linalg.solve(np.zeros([2, 2]), np.ones([2])).js());
// prints: [ NaN, Infinity ]
