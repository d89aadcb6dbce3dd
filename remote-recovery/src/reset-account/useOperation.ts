import { useEffect, useRef, useState } from "react";

/**
 * One act at a time: what it gave goes to `onDone`, what went wrong stays to be shown. Nothing is
 * told once the screen is gone.
 */
export function useOperation<T>(onDone: (result: T) => void): {
  readonly busy: boolean;
  readonly error: unknown;
  readonly run: (operation: () => Promise<T>) => Promise<void>;
} {
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({
    busy: false,
    error: null,
  });
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const run = async (operation: () => Promise<T>): Promise<void> => {
    setState({ busy: true, error: null });
    try {
      const result = await operation();
      if (!mounted.current) return;
      setState({ busy: false, error: null });
      onDone(result);
    } catch (error) {
      if (mounted.current) setState({ busy: false, error });
    }
  };
  return { ...state, run };
}
