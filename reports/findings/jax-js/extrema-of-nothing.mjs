import { numpy as np } from "@jax-js/jax";

console.log(np.max(np.zeros([0])).js());
// prints: -Infinity
