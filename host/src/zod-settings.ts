import { z } from "zod";

// The page's policy forbids `eval`: without this zod would try it once, and the browser would
// report a violation.
z.config({ jitless: true });
