/** The bundler makes a text of it. */
declare module "*.py" {
  const text: string;
  export default text;
}
