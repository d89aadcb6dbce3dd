import { z } from "zod";

// Without this setting zod would try `eval` once. The page's policy forbids it, and the browser
// would report a violation.
z.config({ jitless: true });
