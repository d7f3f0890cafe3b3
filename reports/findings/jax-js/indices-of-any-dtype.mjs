import { numpy as np } from "@jax-js/jax";

console.log(np.array([1, 2, 3]).slice(np.array([true, false, true])).js());
// prints: [ 2, 1, 2 ]
