import { numpy as np } from "@jax-js/jax";

console.log(np.argmax(np.array([1, NaN])).js());
// prints: 2
