import type { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { toUserNameProblem, userNameQuery, type UserNameProblem } from "../data/user-name.ts";

/** Pause in typing after which the service is called, in milliseconds. */
const userNameDebounceMilliseconds = 400;

export interface UserNameValidity {
  /** True until the service rejects the name (specification, section 4). */
  readonly valid: boolean;
  readonly problem: UserNameProblem | null;
}

export function useUserNameValidity(name: string, { user_name: currentName }: Pick<Me, "user_name">): UserNameValidity {
  const portal = usePortal();
  const [debouncedName, setDebouncedName] = useState(name);
  useEffect(() => {
    const timer = setTimeout(() => {
      setDebouncedName(name);
    }, userNameDebounceMilliseconds);
    return () => {
      clearTimeout(timer);
    };
  }, [name]);
  const shouldCheck = debouncedName !== currentName && debouncedName !== "" && debouncedName === name;
  const { error } = useQuery({ ...userNameQuery(portal, debouncedName), enabled: shouldCheck });
  const problem = shouldCheck && error !== null ? toUserNameProblem(error) : null;
  return { valid: problem === null, problem };
}
