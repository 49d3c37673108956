"""`tilefit mcp`, asked with the official client library of the Model Context Protocol. TILEFIT names the binary."""
import asyncio
import os
import shutil
import tempfile
import unittest

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")
TOOLS = ["check", "plan", "what_if", "largest_fit", "codegen", "explain"]

PAGE = os.path.join(EXAMPLES, "..", "diagnostics", "kernel-too-large.md")


def text(result):
    return "\n".join(part.text for part in result.content)


class Agent(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.workspace = tempfile.mkdtemp(prefix="tilefit-mcp-")
        self.addCleanup(shutil.rmtree, self.workspace)
        for name in os.listdir(EXAMPLES):
            shutil.copy(os.path.join(EXAMPLES, name), self.workspace)
        with open(PAGE) as page:
            endless = page.read().split("```python\n")[1].split("```")[0]
        for nth in range(8):
            with open(os.path.join(self.workspace, f"endless{nth}.py"), "w") as file:
                file.write(endless)

    async def ask(self, conversation):
        server = StdioServerParameters(command=os.environ["TILEFIT"], args=["mcp"], cwd=self.workspace)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await conversation(session)

    async def test_tools_with_schemas(self):
        async def conversation(session):
            tools = (await session.list_tools()).tools
            self.assertEqual([tool.name for tool in tools], TOOLS)
            for tool in tools:
                schema = tool.model_dump(by_alias=True)["inputSchema"]
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertTrue(tool.description)
                self.assertTrue(tool.annotations.model_dump(by_alias=True)["readOnlyHint"])
            what_if = tools[2].model_dump(by_alias=True)["inputSchema"]
            jsonschema.validate({"edits": [{"file": "a.py", "old_text": "1", "new_text": "2"}], "target": "sm_90"}, what_if)
            for wrong in [{}, {"edits": [{"file": "a.py"}]}, {"edits": [], "target": "sm_91"}, {"edits": [], "flie": ""}]:
                self.assertRaises(jsonschema.ValidationError, jsonschema.validate, wrong, what_if)

        await self.ask(conversation)

    async def test_an_overflow_is_found_tried_and_explained(self):
        async def conversation(session):
            async def told(tool, **arguments):
                result = (await session.call_tool(tool, arguments)).model_dump(by_alias=True)
                self.assertFalse(result["isError"], result)
                return result["content"][0]["text"], result["structuredContent"]

            said, checked = await told("check", paths=["overflow.py"])
            self.assertIn("overflow.py:22: error [capacity-exceeded] Vec overflow: 192 KiB live at once", said)
            self.assertEqual(checked["summary"]["errors"], 1)
            _, planned = await told("plan", file="overflow.py", kernel="gate")
            self.assertEqual(planned["kernels"][0]["spaces"]["Vec"]["used"], 196608)
            edit = {"file": "overflow.py", "old_text": "ROWS, COLS = 64, 256", "new_text": "ROWS, COLS = 64, 192"}
            said, tried = await told("what_if", edits=[edit])
            self.assertIs(tried["fits"], True)
            self.assertEqual(tried["kernels"][0]["left"], {"Vec": 40960})
            self.assertIn("fits now", said)
            _, largest = await told("largest_fit", file="overflow.py", name="COLS")
            self.assertEqual((largest["best"]["value"], largest["next"]["value"]), (224, 256))
            said, _ = await told("codegen", file="elementwise.py")
            self.assertIn("TADD(", said)
            said, _ = await told("explain", code="capacity-exceeded")
            self.assertIn("# capacity-exceeded", said)
            with open(os.path.join(self.workspace, "overflow.py")) as file:
                self.assertIn("ROWS, COLS = 64, 256", file.read())

        await self.ask(conversation)

    async def test_what_is_wrong_is_an_error_of_the_tool(self):
        async def conversation(session):
            for tool, arguments, words in [
                ("plan", {"file": "overflow"}, "did you mean `overflow.py`?"),
                ("plan", {"file": "../../etc/passwd"}, "outside the workspace"),
                ("plan", {"file": "overflow.py", "kernel": "gat"}, "did you mean `gate`?"),
                ("what_if", {"edits": [{"file": "overflow.py", "old_text": "nowhere", "new_text": ""}]}, "is not in the file"),
                ("largest_fit", {"file": "overflow.py", "name": "COL"}, "did you mean `COLS`?"),
            ]:
                result = await session.call_tool(tool, arguments)
                self.assertTrue(result.model_dump(by_alias=True)["isError"])
                self.assertIn(words, text(result))
            # And the next call works.
            self.assertIn("overflow", text(await session.call_tool("plan", {"file": "overflow.py"})))

        await self.ask(conversation)

    async def test_a_kernel_without_end_keeps_no_other_call_waiting(self):
        async def conversation(session):
            ended = []

            async def call(tool, **arguments):
                result = await session.call_tool(tool, arguments)
                ended.append(tool)
                return text(result)

            slow, quick = await asyncio.gather(call("check", hints=True), call("explain", code="rejected"))
            self.assertEqual(ended, ["explain", "check"])
            self.assertIn("[kernel-too-large]", slow)
            self.assertIn("rejected", quick)

        await self.ask(conversation)


if __name__ == "__main__":
    unittest.main()
