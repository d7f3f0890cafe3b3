import { numpy as np } from "@jax-js/jax";

console.log(np.var_(np.array([1, 2])).js(), np.var_(np.array([1, 2]), null, { correction: 3 }).js());
// prints: 0.25 -0.5
