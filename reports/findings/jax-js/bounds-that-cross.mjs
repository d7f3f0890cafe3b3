import { numpy as np } from "@jax-js/jax";

console.log(np.clip(np.array([1, 2, 3]), 5, 2).js());
// prints: [ 5, 5, 5 ]
