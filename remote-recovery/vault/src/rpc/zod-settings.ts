import { z } from "zod";

/*
 * Must be imported before any schema is created. The content security policies of portal and kit
 * forbid zod's generated functions, and browsers report each attempt.
 */
z.config({ jitless: true });
