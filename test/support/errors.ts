/** The code and message that a promise rejects with. */
export async function rejection(call: () => Promise<unknown>): Promise<{ code: unknown; message: string }> {
  try {
    await call();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    return { code, message };
  }
  return { code: undefined, message: "did not reject" };
}
